/**
 * Runs with what aborts as soon as one of the signals comes. Not by `AbortSignal.any`, which the oldest supported browsers do
 * not have. Nothing stays at signals that live on.
 */
export async function withAny<T>(
  signals: readonly (AbortSignal | undefined)[],
  run: (end: AbortController) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const abort = (): void => {
    end.abort();
  };
  for (const signal of signals) {
    signal?.addEventListener('abort', abort);
    if (signal?.aborted === true) abort();
  }
  try {
    return await run(end);
  } finally {
    for (const signal of signals) signal?.removeEventListener('abort', abort);
  }
}

/** Runs with a signal that comes after so many ms, or with the given one. */
export function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withAny([signal], async (end) => {
    const timer = setTimeout(() => {
      end.abort();
    }, ms);
    try {
      return await run(end.signal);
    } finally {
      clearTimeout(timer);
    }
  });
}

/** Rejects as soon as the signal comes, if there is an error to reject with. */
export function raced<T>(
  signal: AbortSignal,
  value: T | Promise<T>,
  why: () => Error | undefined,
): Promise<T> {
  const over = new Promise<never>((_, reject) => {
    const end = (): void => {
      const error = why();
      if (error !== undefined) reject(error);
    };
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  });
  return Promise.race([value, over]);
}
