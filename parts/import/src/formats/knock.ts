import { emailSchema, localeSchema, zoneSchema } from '../../../../src/core/contact.ts';
import { Fields, given, isObject, textOf, type Format, type Json, type Mapped } from './format.ts';

const READING = 'what members have seen is not imported';
const SENDING = 'about how it was sent';
const PEOPLE = 'members are imported with --members';
const MADE = 'made by the product';

/** Knock: messages, subscriptions, users and objects, as its API gives them. */
export const knock: Format = { actions: message, follows: subscription, members: user, refs: thing };

/** The id of a user; `null`: it is an object, or nothing. */
function userOf(value: unknown): string | null {
  if (!isObject(value)) return textOf(value) ?? null;
  return textOf(value['collection']) === undefined ? (textOf(value['id']) ?? null) : null;
}

function message(object: Json): Mapped {
  const fields = new Fields(object);
  const channel = fields.take('channel');
  const kind = isObject(channel) ? textOf(channel['type']) : undefined;
  if (kind !== undefined && kind !== 'in_app_feed')
    return { reason: `sent by another channel than the feed: ${kind}` };
  const recipient = userOf(fields.take('recipient'));
  if (recipient === null) return { reason: 'the recipient is not a user' };
  const actors = fields.take('actors');
  const [actor, ...others] = Array.isArray(actors) ? (actors as unknown[]) : [fields.take('actor')];
  const actorId = userOf(actor);
  if (actorId === null) return { reason: 'no actor that is a user' };
  for (const name of ['actors', 'actor', 'recipient']) fields.takePart(name, PEOPLE, 'id');
  for (const name of ['channel', 'source']) fields.takePart(name, SENDING, 'id', 'type', 'key');
  if (others.length > 0) fields.left['actors'] = 'all but the first: an action has one actor';
  const source = fields.take('source');
  const verb = textOf(fields.take('workflow')) ?? (isObject(source) ? textOf(source['key']) : undefined);
  if (verb === undefined) return { reason: 'no workflow' };
  const id = textOf(fields.take('id'));
  if (id === undefined) return { reason: 'no id' };
  fields.leave(
    READING,
    ...['seen_at', 'read_at', 'interacted_at', 'archived_at', 'clicked_at', 'link_clicked_at'],
    'engagement_statuses',
  );
  fields.leave(SENDING, 'channel_id', 'status', 'blocks', 'trigger_data', 'total_actors', 'total_activities');
  fields.leave(SENDING, 'scheduled_at', 'metadata', 'activities');
  fields.leave('the tenant of the import counts', 'tenant');
  fields.leave(MADE, '__typename', '__cursor', 'updated_at');
  const conducted = textOf(fields.take('inserted_at'));
  const data = fields.take('data');
  for (const name of Object.keys(fields.rest() ?? {})) fields.left[name] = 'unknown';
  return {
    left: fields.left,
    record: given({
      ...{ idempotencyKey: `knock:${id}`, actorId, conducted },
      ...{ scope: 'RESTRICTED', recipients: [recipient] },
      descriptor: {
        custom: given({ verb, objectType: 'message', objectId: id, data: isObject(data) ? data : undefined }),
      },
    }),
  };
}

function subscription(object: Json): Mapped {
  const fields = new Fields(object);
  const to = fields.take('object');
  const followerId = userOf(fields.take('recipient'));
  if (!isObject(to) || textOf(to['id']) === undefined || textOf(to['collection']) === undefined)
    return { reason: 'no object that can be read' };
  if (followerId === null) return { reason: 'the recipient is not a user' };
  fields.leave(MADE, '__typename', 'inserted_at', 'updated_at');
  for (const name of Object.keys(fields.rest() ?? {})) fields.left[name] = 'a follow has no such field';
  return {
    left: fields.left,
    record: { followerId, refId: `${String(to['collection'])}:${String(to['id'])}` },
  };
}

function user(object: Json): Mapped {
  const fields = new Fields(object);
  const id = textOf(fields.take('id'));
  if (id === undefined) return { reason: 'no id' };
  fields.leave('numbers of telephones are not kept', 'phone_number');
  const email = fields.takeFitting('email', emailSchema, 'no mail address');
  const locale = fields.takeFitting('locale', localeSchema, 'no language tag');
  const timeZone = fields.takeFitting('timezone', zoneSchema, 'no time zone');
  fields.leave(MADE, '__typename', 'created_at', 'updated_at');
  const name = textOf(fields.take('name')) ?? id;
  const imageUrl = fields.takeLink('avatar');
  const properties = fields.take('properties');
  const data = { ...(isObject(properties) ? properties : {}), ...fields.rest() };
  return {
    left: fields.left,
    record: given({
      ...{ memberId: id, name, imageUrl, email, locale, timeZone },
      data: Object.keys(data).length === 0 ? undefined : data,
    }),
  };
}

function thing(object: Json): Mapped {
  const fields = new Fields(object);
  const id = textOf(fields.take('id'));
  const type = textOf(fields.take('collection'));
  if (id === undefined || type === undefined) return { reason: 'no id and collection' };
  fields.leave(MADE, '__typename', 'created_at', 'updated_at');
  const properties = fields.take('properties');
  const all = new Fields({ ...(isObject(properties) ? properties : {}), ...fields.rest() });
  const label = textOf(all.take('name')) ?? id;
  return { left: fields.left, record: given({ id: `${type}:${id}`, type, label, data: all.rest() }) };
}
