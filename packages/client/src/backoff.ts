export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait after so many failures in a row (1 or more), in ms: doubled each time up to `maxMs`, of which between
 * a half and all is taken, so that clients that lost one server do not come back as one.
 */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number, random = Math.random): number {
  const longest = Math.min(maxMs, firstMs * 2 ** (failures - 1));
  return longest * (0.5 + random() / 2);
}

/** Resolves after so many ms, or when the signal ends it. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
