/** So watchers hear of what falls due within a second, the work itself included. */
const LONGEST_MS = 500;

/** For what falls due by the clock alone, no signal comes: looks twice as often as for other work. */
export function pollByTheClockMs(pollMs: number): number {
  return Math.min(pollMs / 2, LONGEST_MS);
}
