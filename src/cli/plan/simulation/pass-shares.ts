/**
 * Commands of a pass one after the other: two to find a fan-out and to take it, three to read who follows and to begin. Of those beside,
 * half are the end of the pass, half look for when the next one is due.
 */
export const CLAIM_COMMANDS = 2;
export const READING_COMMANDS = 3;
/** Of what a pass has to do before it has ended, the part of finding the fan-out, one after the other. */
export const CLAIM_SHARE = CLAIM_COMMANDS / (CLAIM_COMMANDS + READING_COMMANDS);
export const LOOK_AHEAD_SHARE = 0.5;
/**
 * The process is at a full chunk in so many pieces, half of them before it is written, and does other things in between: its
 * longest stretches without a pause are that much shorter than what a chunk takes of it.
 */
export const PIECES = 6;
/** Looked for at once, as in `storage/claim-first.ts`. */
export const CANDIDATES = 8;
