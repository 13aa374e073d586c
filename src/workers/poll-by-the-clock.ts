/** So watchers hear of what falls due within a second, the work itself included. */
const LONGEST_MS = 500;

/**
 * How often a worker looks for what falls due by the clock alone, in milliseconds: no signal announces that time has
 * passed, so it looks twice as often as for other work, and often enough however seldom that is looked for.
 */
export function pollByTheClockMs(pollMs: number): number {
  return Math.min(pollMs / 2, LONGEST_MS);
}
