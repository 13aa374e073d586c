import { randomBytes } from 'node:crypto';
import type { UserId } from './action.ts';
import { idBeside, plainId } from './tenant.ts';

/** Display name of an erased member. */
export const FORMER_MEMBER = 'Former member';

const PREFIX = 'erased:';
const PSEUDONYM_BYTES = 12;

/** A new random id for an erased member, in the same tenant. Reveals nothing about the member. */
export function newPseudonym(memberId: UserId): UserId {
  return pseudonymFrom(memberId, randomBytes(PSEUDONYM_BYTES).toString('hex'));
}

/** @param digits unguessable hexadecimal digits; only the required number of them is used. */
export function pseudonymFrom(memberId: UserId, digits: string): UserId {
  return idBeside(memberId, `${PREFIX}${digits.slice(0, 2 * PSEUDONYM_BYTES)}`);
}

/** Display name of a user the application never described: their id, or the neutral name of an erased member. */
export function nameOfUnknown(userId: UserId): string {
  const id = plainId(userId);
  return id.startsWith(PREFIX) ? FORMER_MEMBER : id;
}
