/** URGENT: an item must disappear or come back. LIVE: publications and interactions. BULK: imports, rebuilds, renames. */
export const LANES = ['URGENT', 'LIVE', 'BULK'] as const;
export type Lane = (typeof LANES)[number];

/** The lane of a pass that is requested without one, and of fan-outs that are DONE, which have none. */
export const DEFAULT_LANE: Lane = 'LIVE';
