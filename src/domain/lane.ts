/**
 * How urgent a fan-out is, the most urgent first. URGENT: something is to disappear or to come back. LIVE: somebody
 * published or interacted. BULK: imports, rebuilds and renames, for which nobody waits.
 */
export const LANES = ['URGENT', 'LIVE', 'BULK'] as const;
export type Lane = (typeof LANES)[number];

/** Of fan-outs that do not say, and of those that are at rest. */
export const DEFAULT_LANE: Lane = 'LIVE';
