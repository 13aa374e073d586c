/** URGENT: an item must disappear or come back. LIVE: publications and interactions. BULK: imports, rebuilds, renames. */
export const LANES = ['URGENT', 'LIVE', 'BULK'] as const;
export type Lane = (typeof LANES)[number];

/** The lane of a pass that is requested without one, and of fan-outs that are DONE, which have none. */
export const DEFAULT_LANE: Lane = 'LIVE';

/** Of more actions at once of one call, or that come due together of one actor, nobody waits for each: they are delivered in the lane BULK. */
export const MAX_LIVE_AT_ONCE = 20;
