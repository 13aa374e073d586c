const SHORTEST_MS = 250;
const LONGEST_MS = 30_000;
/** Who has run for this long does not end for the reason it ended for before. */
const STEADY_MS = 60_000;

/**
 * How long to wait, in milliseconds, before a process that has ended is started again: twice as long after each end in a
 * row, half a minute at most.
 * @param failures ends in a row before this one.
 */
export function restartDelay(
  failures: number,
  ranForMs: number,
): { readonly again: number; readonly failures: number } {
  const before = ranForMs >= STEADY_MS ? 0 : failures;
  return { again: Math.min(LONGEST_MS, SHORTEST_MS * 2 ** before), failures: before + 1 };
}
