/** Keeps notifications of due times within a second, including the work itself. */
const LONGEST_MS = 500;

/** Poll interval for work that becomes due by the clock and so has no signal: half of that for other work. */
export function pollByTheClockMs(pollMs: number): number {
  return Math.min(pollMs / 2, LONGEST_MS);
}
