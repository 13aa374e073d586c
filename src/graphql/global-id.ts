import type { ActionId, UserId } from '../domain/action.ts';
import { badInput } from '../domain/errors.ts';

/** What a global id names. `unknown` is a well-formed id of a type this server does not have. */
export type GlobalId =
  | { readonly type: 'Action'; readonly actionId: ActionId }
  | { readonly type: 'Member'; readonly userId: UserId }
  | { readonly type: 'NewsfeedItem'; readonly userId: UserId; readonly actionId: ActionId }
  | { readonly type: 'unknown' };

type Path = readonly (string | number)[];

const FORM = /^([A-Za-z_]\w*):(.+)$/su;
const ACTION_ID = /^[0-9a-f]{24}$/;
const ITEM_KEY = /^(.+):([0-9a-f]{24})$/su;

function encode(type: string, key: string): string {
  return Buffer.from(`${type}:${key}`).toString('base64');
}

export function encodeActionId(actionId: ActionId): string {
  return encode('Action', actionId);
}

export function encodeMemberId(userId: UserId): string {
  return encode('Member', userId);
}

export function encodeNewsfeedItemId(userId: UserId, actionId: ActionId): string {
  return encode('NewsfeedItem', `${userId}:${actionId}`);
}

/** Null unless `id` is exactly what encoding would give. */
function decode(id: string): { type: string; key: string } | null {
  const bytes = Buffer.from(id, 'base64');
  const text = bytes.toString();
  if (bytes.toString('base64') !== id || !bytes.equals(Buffer.from(text))) return null;
  const [, type, key] = FORM.exec(text) ?? [];
  return type === undefined || key === undefined ? null : { type, key };
}

function malformed(path: Path): Error {
  return badInput('Not an id of this API', path);
}

/** Reads a global id. Throws BAD_USER_INPUT where `id` was never given out, pointing at `path`. */
export function parseGlobalId(id: string, path: Path): GlobalId {
  const decoded = decode(id);
  if (decoded === null) throw malformed(path);
  const { type, key } = decoded;
  switch (type) {
    case 'Action':
      if (!ACTION_ID.test(key)) throw malformed(path);
      return { type, actionId: key };
    case 'Member':
      return { type, userId: key };
    case 'NewsfeedItem': {
      const [, userId, actionId] = ITEM_KEY.exec(key) ?? [];
      if (userId === undefined || actionId === undefined) throw malformed(path);
      return { type, userId, actionId };
    }
    default:
      return { type: 'unknown' };
  }
}

/** Reads the global id of an action. Throws BAD_USER_INPUT for anything else. */
export function parseActionId(id: string, path: Path): ActionId {
  const parsed = parseGlobalId(id, path);
  if (parsed.type !== 'Action') throw badInput('Not the id of an action', path);
  return parsed.actionId;
}
