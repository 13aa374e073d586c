/** URGENT: something is to disappear or come back. LIVE: published, interacted. BULK: imports, rebuilds, renames. */
export const LANES = ['URGENT', 'LIVE', 'BULK'] as const;
export type Lane = (typeof LANES)[number];

/** Of fan-outs that do not say, and of those that are at rest. */
export const DEFAULT_LANE: Lane = 'LIVE';
