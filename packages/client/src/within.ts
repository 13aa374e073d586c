/**
 * Runs with a signal that comes after so many ms, or with the given one. Not by `AbortSignal.any`, which the oldest
 * supported browsers do not have.
 */
export async function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const abort = (): void => {
    limit.abort();
  };
  const timer = setTimeout(abort, ms);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted === true) abort();
  try {
    return await run(limit.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
