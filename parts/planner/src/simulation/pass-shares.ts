import type { WorkCost } from './system.ts';

/**
 * Commands of a pass that run one after another: two to find and claim a fan-out, three to read the followers and start. Of
 * the concurrent ones, half belong to the end of the pass, half look for the next due one.
 */
export const CLAIM_COMMANDS = 2;
export const READING_COMMANDS = 3;
/** The part of a pass's sequential work that finds the fan-out. */
export const CLAIM_SHARE = CLAIM_COMMANDS / (CLAIM_COMMANDS + READING_COMMANDS);
export const LOOK_AHEAD_SHARE = 0.5;
/**
 * A worker processes a full chunk in so many pieces, half of them before it is written, and does other work in between: so
 * its longest uninterrupted work is this much shorter than a chunk.
 */
export const PIECES = 6;
/** Candidates read at once, as in `storage/database/lease.ts`. */
export const CANDIDATES = 8;

/** A share of the work before a pass has ended. */
export function onPathOf({ process, database, wait, onPath = 1 }: WorkCost, share: number): WorkCost {
  const part = share * onPath;
  return { process: process * part, database: database * part, wait: wait * share };
}

/** A share of the rest of its work. */
export function besideOf({ process, database, onPath = 1 }: WorkCost, share: number): WorkCost {
  const part = share * (1 - onPath);
  return { process: process * part, database: database * part, wait: 0 };
}
