/**
 * Runs with what aborts as soon as the signal comes. Not by `AbortSignal.any`, which the oldest supported browsers do not have.
 * Nothing stays at a signal that lives on.
 */
export async function following<T>(
  signal: AbortSignal | undefined,
  run: (end: AbortController) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const abort = (): void => {
    end.abort();
  };
  signal?.addEventListener('abort', abort);
  if (signal?.aborted === true) abort();
  try {
    return await run(end);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** Runs with a signal that comes after so many ms, or with the given one. */
export function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return following(signal, async (end) => {
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
