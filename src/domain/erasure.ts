import type { UserId } from './action.ts';

/**
 * RUNNING: the member's data is being removed. CONFIRMING: it is gone; a second look is due, for what was
 * being written meanwhile. DONE: that was taken too, and nothing here knows the member's id any more.
 */
export const ERASURE_STATES = ['RUNNING', 'CONFIRMING', 'DONE'] as const;
export type ErasureState = (typeof ERASURE_STATES)[number];

/** Who is to be erased, and what stands in their place. */
export interface ErasureSubject {
  readonly memberId: UserId;
  /** The names they are known by, to be replaced where they were copied. */
  readonly names: readonly string[];
  /** The same for everything that belongs to one erasure. */
  readonly pseudonym: UserId;
}

export interface ErasureTask extends ErasureSubject {
  readonly startedAt: Date;
}

export interface Erasure {
  /** Null once only a hash of it is left. */
  readonly memberId: UserId | null;
  readonly state: ErasureState;
  readonly requestedBy: UserId;
  readonly startedAt: Date;
  /** Null until DONE. */
  readonly finishedAt: Date | null;
  /** What is being worked on; null between two rounds and at the end. */
  readonly step: string | null;
  /** Documents removed or rewritten so far. */
  readonly changed: number;
}
