import { randomBytes } from 'node:crypto';
import type { UserId } from './action.ts';
import { idBeside, plainId } from './tenant.ts';

/** What is shown in place of the name of a member who was erased. */
export const FORMER_MEMBER = 'Former member';

const PREFIX = 'erased:';
const PSEUDONYM_BYTES = 12;

/** A fresh id that stands for an erased member, in their tenant. Says nothing about them; two are never alike. */
export function newPseudonym(memberId: UserId): UserId {
  return pseudonymFrom(memberId, randomBytes(PSEUDONYM_BYTES).toString('hex'));
}

/** @param digits hexadecimal, which nobody can guess; as many as are needed are taken. */
export function pseudonymFrom(memberId: UserId, digits: string): UserId {
  return idBeside(memberId, `${PREFIX}${digits.slice(0, 2 * PSEUDONYM_BYTES)}`);
}

/** The name of somebody nobody describes: their id, or the neutral name of a former member. */
export function nameOfUnknown(userId: UserId): string {
  const id = plainId(userId);
  return id.startsWith(PREFIX) ? FORMER_MEMBER : id;
}
