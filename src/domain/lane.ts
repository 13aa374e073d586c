/** URGENT: an item must disappear or come back. LIVE: publications and interactions. BULK: imports, rebuilds, renames. */
export const LANES = ['URGENT', 'LIVE', 'BULK'] as const;
export type Lane = (typeof LANES)[number];

/** For fan-outs without a lane and for finished ones. */
export const DEFAULT_LANE: Lane = 'LIVE';
