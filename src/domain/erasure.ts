import type { UserId } from './action.ts';
import { randomBytes } from 'node:crypto';
import { idBeside, plainId } from './stored-id.ts';

/** Display name of an erased member. */
export const FORMER_MEMBER = 'Former member';

const PREFIX = 'erased:';
const PSEUDONYM_BYTES = 12;

/** A new random id for an erased member, beside theirs. Reveals nothing about the member. */
export function newPseudonym(memberId: UserId): UserId {
  return pseudonymFrom(memberId, randomBytes(PSEUDONYM_BYTES).toString('hex'));
}

/** @param digits unguessable hexadecimal digits; only the required number of them is used. */
export function pseudonymFrom(memberId: UserId, digits: string): UserId {
  return idBeside(memberId, `${PREFIX}${digits.slice(0, 2 * PSEUDONYM_BYTES)}`);
}

/** Display name of a user the application never described: their id, or the neutral name of an erased member. */
export function nameOfUnknown(userId: UserId): string {
  return isPseudonym(userId) ? FORMER_MEMBER : plainId(userId);
}

/** Whether the id replaces that of an erased member. */
export function isPseudonym(userId: UserId): boolean {
  return plainId(userId).startsWith(PREFIX);
}

/**
 * RUNNING: the member's data is being removed. CONFIRMING: the data is gone, and a second pass is due that catches
 * concurrent writes. DONE: the second pass is finished and the member's id is no longer stored.
 */
export type ErasureState = 'RUNNING' | 'CONFIRMING' | 'DONE';

/** The steps of an erasure. What runs an erasure gives them their order. */
export type ErasureStepName =
  | 'CONCEAL'
  | 'FOLLOWERS_COPY'
  | 'ACTIONS'
  | 'INTERACTIONS'
  | 'RESHARES'
  | 'FOLLOWS'
  | 'FOLLOWERS'
  | 'FEED'
  | 'OWN_DOCUMENTS'
  | 'MUTES'
  | 'BLOCKS'
  | 'SUPERVISION'
  | 'MODERATION'
  | 'REPORTS'
  | 'EVENTS'
  | 'FAN_OUTS'
  | 'REQUESTS'
  | 'PROFILE'
  | 'SESSIONS'
  | 'LIVE_LOG';

/** A member to erase and the pseudonym that replaces them. */
export interface ErasureSubject {
  readonly memberId: UserId;
  /** Names the member is known by; copies of these names are replaced. */
  readonly names: readonly string[];
  /** One pseudonym per erasure: everything the member left carries the same one. */
  readonly pseudonym: UserId;
}

export interface ErasureTask extends ErasureSubject {
  readonly startedAt: Date;
}

export interface Erasure {
  /** `null` once only a hash of the id remains. */
  readonly memberId: UserId | null;
  readonly state: ErasureState;
  readonly requestedBy: UserId;
  readonly startedAt: Date;
  /** `null` until DONE. */
  readonly finishedAt: Date | null;
  /** The step in progress; `null` between two rounds and after the last one. */
  readonly step: string | null;
  /** Number of documents removed or rewritten so far. */
  readonly changed: number;
}

/** All in milliseconds. */
export interface ErasureTiming {
  /** Time a batch may take before another process takes the erasure over. */
  readonly leaseMs: number;
  /** Delay of the second pass: longer than any delivery, publication or rebuild that read the member before may last. */
  readonly confirmAfterMs: number;
}

export const ERASURE_TIMING: ErasureTiming = { leaseMs: 30_000, confirmAfterMs: 60_000 };
