import { Fields, given, isObject, textOf, type Format, type Json, type Mapped } from './format.ts';

const COUNTED = 'counts and reactions are not imported';
const PEOPLE = 'members are imported with --members';
const THINGS = 'beside the name, things are imported with --refs';
const MADE = 'made by the product';

/** Stream Feeds v2: activities, follows, users and collections, as its API gives them. */
export const getstream: Format = { actions: activity, follows: follow, members: user, refs: collected };

interface Thing {
  readonly type: string;
  readonly id: string;
  readonly whole: string;
  readonly label: string | undefined;
}

/** `Place:42`, a reference `SO:places:42` or `SU:ann`, or an object that was put in its place. */
function thingOf(value: unknown): Thing | null {
  if (isObject(value)) {
    const id = textOf(value['id']);
    const data = isObject(value['data']) ? value['data'] : {};
    const label = textOf(data['name']) ?? textOf(value['name']);
    const type = textOf(value['collection']);
    if (id === undefined) return null;
    const thing = thingOf(id);
    return type === undefined ? thing && { ...thing, label } : { type, id, whole: `${type}:${id}`, label };
  }
  const text = textOf(value);
  if (text === undefined) return null;
  const [, reference] = /^S[OU]:(.+)$/s.exec(text) ?? [];
  const whole = reference ?? text;
  const [, type = 'thing', id = whole] = /^([^:]+):(.+)$/s.exec(whole) ?? [];
  return { type, id, whole, label: undefined };
}

/** Times have no zone, and are in UTC. */
function timeOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text === undefined || /(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`;
}

function activity(object: Json): Mapped {
  const fields = new Fields(object);
  if (textOf(object['activity_id']) !== undefined)
    return { reason: 'a reaction: interactions cannot be imported' };
  const actor = thingOf(fields.take('actor'));
  const verb = textOf(fields.take('verb'));
  const done = thingOf(fields.take('object'));
  const target = thingOf(fields.take('target'));
  if (actor === null) return { reason: 'no actor that can be read' };
  if (verb === undefined) return { reason: 'no verb' };
  if (done === null) return { reason: 'no object that can be read' };
  fields.takePart('actor', PEOPLE, 'id');
  for (const name of ['object', 'target']) fields.takePart(name, THINGS, 'id', 'collection');
  const time = timeOf(fields.take('time'));
  const id = textOf(fields.take('id'));
  const foreign = textOf(fields.take('foreign_id'));
  const to = fields.take('to');
  const feeds = Array.isArray(to) ? to.flatMap((feed) => (typeof feed === 'string' ? [feed] : [])) : [];
  const named = feeds.flatMap((feed) => /^notification:(.+)$/s.exec(feed)?.[1] ?? []);
  if (named.length < feeds.length) fields.left['to'] = 'feeds other than notification name nobody';
  fields.leave(COUNTED, 'reaction_counts', 'latest_reactions', 'own_reactions', 'latest_reactions_extra');
  fields.leave(MADE, 'origin', 'analytics', 'score', 'popularity', 'is_read', 'is_seen');
  const key = id ?? (foreign === undefined ? undefined : `${foreign}@${time ?? ''}`);
  const things = [done, ...(target === null ? [] : [target])];
  return {
    left: fields.left,
    record: given({
      idempotencyKey: key === undefined ? undefined : `getstream:${key}`,
      actorId: actor.id,
      conducted: time,
      mentions: named.length === 0 ? undefined : named,
      refs: things.map(({ whole, type, label }) => ({ id: whole, type, label: label ?? whole })),
      descriptor: {
        custom: given({
          ...{ verb, objectType: done.type, objectId: done.whole, targetId: target?.whole },
          data: fields.rest(),
        }),
      },
    }),
  };
}

function follow(object: Json): Mapped {
  const fields = new Fields(object);
  const follower = thingOf(fields.take('feed_id') ?? fields.take('source'));
  const followed = thingOf(fields.take('target_id') ?? fields.take('target'));
  if (follower === null || followed === null) return { reason: 'no feeds that can be read' };
  fields.leave(MADE, 'created_at', 'updated_at');
  // A feed of a user is followed as the member, who is the ref of their own actions.
  const refId = followed.type === 'user' ? followed.id : followed.whole;
  for (const name of Object.keys(fields.rest() ?? {})) fields.left[name] = 'a follow has no such field';
  return { left: fields.left, record: { followerId: follower.id, refId } };
}

function user(object: Json): Mapped {
  const fields = new Fields(object);
  const id = textOf(fields.take('id'));
  if (id === undefined) return { reason: 'no id' };
  fields.leave(MADE, 'created_at', 'updated_at');
  const inner = fields.take('data');
  const data = new Fields(isObject(inner) ? inner : {});
  for (const name of Object.keys(fields.rest() ?? {})) fields.left[name] = 'unknown';
  const name = textOf(data.take('name')) ?? id;
  const imageUrl = data.takeLink('image') ?? data.takeLink('profileImage');
  return {
    left: { ...fields.left, ...data.left },
    record: given({ memberId: id, name, imageUrl, data: data.rest() }),
  };
}

function collected(object: Json): Mapped {
  const fields = new Fields(object);
  const id = textOf(fields.take('id'));
  const type = textOf(fields.take('collection'));
  if (id === undefined || type === undefined) return { reason: 'no id and collection' };
  fields.leave(MADE, 'created_at', 'updated_at', 'foreign_id');
  const inner = fields.take('data');
  const data = new Fields(isObject(inner) ? inner : {});
  for (const name of Object.keys(fields.rest() ?? {})) fields.left[name] = 'unknown';
  const label = textOf(data.take('name')) ?? id;
  return { left: fields.left, record: given({ id: `${type}:${id}`, type, label, data: data.rest() }) };
}
