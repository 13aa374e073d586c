const SHORTEST_MS = 250;
const LONGEST_MS = 30_000;
/** After this uptime, an end is unrelated to the previous one. */
const STEADY_MS = 60_000;

/**
 * Delay in milliseconds before a process is restarted: doubles with each consecutive end, up to half a minute.
 * @param failures consecutive ends before this one.
 */
export function restartDelay(
  failures: number,
  ranForMs: number,
): { readonly again: number; readonly failures: number } {
  const before = ranForMs >= STEADY_MS ? 0 : failures;
  return { again: Math.min(LONGEST_MS, SHORTEST_MS * 2 ** before), failures: before + 1 };
}
