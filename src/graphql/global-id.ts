import type { ActionId, RefId, UserId } from '../domain/action.ts';
import { badInput } from '../domain/errors.ts';
import type { InteractionId } from '../domain/interaction.ts';
import { encodeNodeId as encode } from '../domain/node-ids.ts';
import { storedId, type Tenant, withoutTenant } from '../domain/stored-id.ts';

export { encodeActionId, encodeInteractionId } from '../domain/node-ids.ts';

/** The object a global id names. `other`: well-formed, of a type that a part of the server adds, or none. */
export type GlobalId =
  | { readonly type: 'Action'; readonly actionId: ActionId }
  | { readonly type: 'Interaction'; readonly interactionId: InteractionId }
  | { readonly type: 'Member'; readonly userId: UserId }
  | { readonly type: 'Ref'; readonly refId: RefId }
  | { readonly type: 'FeedGroup'; readonly userId: UserId; readonly groupKey: string }
  | { readonly type: 'NewsfeedItem'; readonly userId: UserId; readonly actionId: ActionId }
  | { readonly type: 'other'; readonly name: string; readonly key: string };

type Path = readonly (string | number)[];

const FORM = /^([A-Za-z_]\w*):(.+)$/su;
const OBJECT_ID = /^[0-9a-f]{24}$/;
const GROUP_KEY = /^(.+):([0-9a-f]{24}|[\w-]{22})$/su;
const ITEM_KEY = /^(.+):([0-9a-f]{24})$/su;

/** Longer than any valid id: those containing a user id of 256 characters have about a thousand. */
const MAX_LENGTH = 8_192;

export function encodeMemberId(userId: UserId): string {
  return encode('Member', userId);
}

export function encodeRefId(refId: RefId): string {
  return encode('Ref', refId);
}

export function encodeNewsfeedItemId(userId: UserId, actionId: ActionId): string {
  return encode('NewsfeedItem', `${userId}:${actionId}`);
}

export function encodeFeedGroupId(userId: UserId, groupKey: string): string {
  return encode('FeedGroup', `${userId}:${groupKey}`);
}

/** `null` unless `id` is exactly what encoding would produce. */
function decode(id: string): { type: string; key: string } | null {
  const bytes = Buffer.from(id, 'base64');
  const text = bytes.toString();
  if (bytes.toString('base64') !== id || !bytes.equals(Buffer.from(text))) return null;
  const [, type, key] = FORM.exec(text) ?? [];
  return type === undefined || key === undefined ? null : { type, key };
}

/** Parses a global id; `null` if it cannot have been issued. */
export function readGlobalId(id: string): GlobalId | null {
  if (id.length > MAX_LENGTH) return null;
  const decoded = decode(id);
  if (decoded === null) return null;
  const { type, key } = decoded;
  switch (type) {
    case 'Action':
      return OBJECT_ID.test(key) ? { type, actionId: key } : null;
    case 'Interaction':
      return OBJECT_ID.test(key) ? { type, interactionId: key } : null;
    case 'Member':
      return { type, userId: key };
    case 'Ref':
      return { type, refId: key };
    case 'FeedGroup': {
      const [, userId, groupKey] = GROUP_KEY.exec(key) ?? [];
      return userId === undefined || groupKey === undefined ? null : { type, userId, groupKey };
    }
    case 'NewsfeedItem': {
      const [, userId, actionId] = ITEM_KEY.exec(key) ?? [];
      return userId === undefined || actionId === undefined ? null : { type, userId, actionId };
    }
    default:
      return { type: 'other', name: type, key };
  }
}

export const NOT_AN_ID = 'Not an id of this API';

/** Parses a global id. Throws BAD_USER_INPUT for `path` if it cannot have been issued. */
export function parseGlobalId(id: string, path: Path): GlobalId {
  const parsed = readGlobalId(id);
  if (parsed === null) throw badInput(NOT_AN_ID, path);
  return parsed;
}

/** Parses the global id of an action. Throws BAD_USER_INPUT for anything else. */
export function parseActionId(id: string, path: Path): ActionId {
  const parsed = parseGlobalId(id, path);
  if (parsed.type !== 'Action') throw badInput('Not the id of an action', path);
  return parsed.actionId;
}

/** Parses the global id of an interaction. Throws BAD_USER_INPUT for anything else. */
export function parseInteractionId(id: string, path: Path): InteractionId {
  const parsed = parseGlobalId(id, path);
  if (parsed.type !== 'Interaction') throw badInput('Not the id of an interaction', path);
  return parsed.interactionId;
}

/**
 * Parses the global id of a type that a part of the server adds. Throws BAD_USER_INPUT for anything else.
 * @param read `null`: no such key can have been issued.
 */
export function parseAddedId<K>(id: string, path: Path, type: string, read: (key: string) => K | null): K {
  const parsed = parseGlobalId(id, path);
  if (parsed.type !== 'other' || parsed.name !== type)
    throw badInput(`Not the id of a ${type.toLowerCase()}`, path);
  const key = read(parsed.key);
  if (key === null) throw badInput(NOT_AN_ID, path);
  return key;
}

/** Parses the global id of a list of a reader. Throws BAD_USER_INPUT for anything else. */
export function parseListId(id: string, path: Path): string {
  return parseAddedId(id, path, 'ReaderList', (key) => (OBJECT_ID.test(key) ? key : null));
}

/** Types whose global id starts with an id of the host application. */
const HOST_TYPES: ReadonlySet<string> = new Set([
  'Member',
  'Ref',
  'FeedGroup',
  'NewsfeedItem',
  'Notification',
]);

/** Removes the tenant from a global id for output. Returns other texts unchanged. */
export function plainGlobalId(tenant: Tenant, id: string): string {
  const decoded = decode(id);
  if (decoded === null) return id;
  const key = withoutTenant(tenant, decoded.key);
  return key === decoded.key ? id : encode(decoded.type, key);
}

/** Adds the tenant to the global ids in a field's arguments. */
export function storedGlobalIds(
  tenant: Tenant,
  args: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { id, ids } = args;
  if (typeof id === 'string') return { ...args, id: storedGlobalId(tenant, id) };
  if (!Array.isArray(ids)) return args;
  return {
    ...args,
    ids: ids.map((one: unknown) => (typeof one === 'string' ? storedGlobalId(tenant, one) : one)),
  };
}

function storedGlobalId(tenant: Tenant, id: string): string {
  const decoded = id.length > MAX_LENGTH ? null : decode(id);
  if (decoded === null || !HOST_TYPES.has(decoded.type)) return id;
  return encode(decoded.type, storedId(tenant, decoded.key));
}
