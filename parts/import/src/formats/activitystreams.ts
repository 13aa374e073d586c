import { Fields, given, isObject, textOf, type Format, type Json, type Mapped } from './format.ts';

const PUBLIC: ReadonlySet<string> = new Set([
  'https://www.w3.org/ns/activitystreams#Public',
  'as:Public',
  'Public',
]);
/** What does not add something but changes what is there. */
const CHANGES: ReadonlySet<string> = new Set([
  'Accept',
  'Block',
  'Delete',
  'Flag',
  'Follow',
  'Ignore',
  'Reject',
  'Remove',
  'Undo',
  'Update',
]);

/** ActivityStreams 2.0: one activity a line; of follows, those of the type Follow. */
export const activitystreams: Format = { actions: activity, follows: follow };

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? (value as unknown[])[0] : value;
}

/** The id of what an activity names, itself or by a link. */
function idOf(value: unknown): string | undefined {
  const one = firstOf(value);
  return isObject(one) ? (textOf(one['id']) ?? textOf(one['href'])) : textOf(one);
}

function typeOf(value: unknown): string | undefined {
  const one = firstOf(value);
  return isObject(one) ? textOf(firstOf(one['type'])) : undefined;
}

function idsOf(value: unknown): string[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return all.flatMap((one) => idOf(one) ?? []);
}

/** A name, in the first of its languages if there are several. */
function nameOf(value: unknown): string | undefined {
  const one = firstOf(value);
  if (!isObject(one)) return undefined;
  const names = isObject(one['nameMap']) ? Object.values(one['nameMap']) : [];
  return textOf(one['name']) ?? textOf(names[0]);
}

function activity(object: Json): Mapped {
  const fields = new Fields(object);
  const type = textOf(firstOf(fields.take('type')));
  if (type === undefined) return { reason: 'no type' };
  if (type === 'Follow') return { reason: 'Follow: give it with --follows' };
  if (CHANGES.has(type)) return { reason: `${type}: it changes something else` };
  if (type.endsWith('Collection') || type.endsWith('CollectionPage'))
    return { reason: `${type}: write its items one a line` };
  const actorId = idOf(fields.take('actor'));
  if (actorId === undefined) return { reason: 'no actor that can be read' };
  const done = fields.take('object');
  const objectId = idOf(done);
  if (objectId === undefined) return { reason: 'no object with an id' };
  const target = fields.take('target');
  const targetId = idOf(target);
  const id = textOf(fields.take('id'));
  for (const name of ['actor', 'object', 'target'])
    if (Array.isArray(object[name]) && object[name].length > 1)
      fields.left[name] = 'all but the first: an action has one';
  fields.takePart('actor', 'members are imported with --members', 'id', 'type');
  fields.takePart('target', 'no field of an action', 'id', 'type', 'name', 'nameMap');
  const audience = audienceOf(fields);
  const refs = [
    { id: objectId, type: (typeOf(done) ?? 'Object').slice(0, 64), label: nameOf(done) ?? objectId },
    ...(targetId === undefined
      ? []
      : [
          {
            id: targetId,
            type: (typeOf(target) ?? 'Object').slice(0, 64),
            label: nameOf(target) ?? targetId,
          },
        ]),
  ];
  const conducted = textOf(fields.take('published')) ?? textOf(fields.take('startTime'));
  fields.leave('a vocabulary is not kept', '@context');
  fields.leave('signatures are not checked', 'signature', 'proof');
  const about = isObject(firstOf(done)) ? (firstOf(done) as Json) : {};
  const data = given({
    content: textOf(about['content']) ?? textOf(object['content']),
    summary: textOf(about['summary']) ?? textOf(object['summary']),
    url: textOf(about['url']),
  });
  fields.take('content');
  fields.take('summary');
  for (const name of Object.keys(fields.rest() ?? {})) fields.left[name] = 'no field of an action';
  const KEPT = new Set(['id', 'type', 'name', 'nameMap', 'content', 'summary', 'url']);
  for (const name of Object.keys(about))
    if (!KEPT.has(name)) fields.left[`object.${name}`] = 'no field of an action';
  return {
    left: fields.left,
    record: given({
      idempotencyKey: id === undefined ? undefined : `activitystreams:${id}`,
      ...{ actorId, conducted, ...audience, refs },
      descriptor: {
        custom: given({
          verb: type.slice(0, 64).toLowerCase(),
          objectType: refs[0]?.type,
          ...{ objectId, targetId, data: Object.keys(data).length === 0 ? undefined : data },
        }),
      },
    }),
  };
}

/** Public, the followers, or nobody but who is named. */
function audienceOf(fields: Fields): Json {
  const named = ['to', 'cc', 'audience', 'bto', 'bcc'].flatMap((name) => idsOf(fields.take(name)));
  const people = [...new Set(named)].filter((id) => !PUBLIC.has(id) && !id.endsWith('/followers'));
  if (named.some((id) => PUBLIC.has(id))) return given({ scope: 'PUBLIC', mentions: some(people) });
  if (named.length === 0 || people.length < new Set(named).size) return given({ mentions: some(people) });
  return { scope: 'RESTRICTED', recipients: people };
}

function some(people: readonly string[]): readonly string[] | undefined {
  return people.length === 0 ? undefined : people;
}

function follow(object: Json): Mapped {
  const fields = new Fields(object);
  const type = textOf(firstOf(fields.take('type')));
  if (type !== 'Follow') return { reason: `${type ?? 'no type'}: it is not a Follow` };
  const followerId = idOf(fields.take('actor'));
  const refId = idOf(fields.take('object'));
  if (followerId === undefined || refId === undefined)
    return { reason: 'no actor and object that can be read' };
  fields.leave('a vocabulary is not kept', '@context');
  fields.leave('a follow has no such field', 'id', 'published', 'to', 'cc');
  for (const name of Object.keys(fields.rest() ?? {})) fields.left[name] = 'a follow has no such field';
  return { left: fields.left, record: { followerId, refId } };
}
