/** Limits of a live log; the README.md of this folder explains each. */
export interface LiveLogOptions {
  /** Events kept per log. Default 1000. */
  readonly logLength?: number;
  /** The recovery window in milliseconds. Default 300 000. */
  readonly windowMs?: number;
  /** Unread live messages of one watcher. Default 1000. */
  readonly bufferLimit?: number;
  /** Milliseconds between renewals of the watches. Default a tenth of the window, at most 10 000. */
  readonly renewEveryMs?: number;
}

export interface LiveLogLimits {
  readonly logLength: number;
  readonly windowMs: number;
  readonly bufferLimit: number;
  readonly renewEveryMs: number;
  /** How long a watch lasts without renewal: longer than the window, however late in an interval a watcher vanishes. */
  readonly keepMs: number;
}

/** @throws RangeError on a limit that is not a positive whole number. */
export function resolveLimits(options: LiveLogOptions): LiveLogLimits {
  const logLength = options.logLength ?? 1000;
  const windowMs = options.windowMs ?? 300_000;
  const bufferLimit = options.bufferLimit ?? 1000;
  const renewEveryMs = options.renewEveryMs ?? Math.max(1, Math.min(10_000, Math.floor(windowMs / 10)));
  for (const [name, value] of Object.entries({ logLength, windowMs, bufferLimit, renewEveryMs }))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`Live log: ${name} must be a positive whole number, got ${String(value)}`);
  return { logLength, windowMs, bufferLimit, renewEveryMs, keepMs: windowMs + 3 * renewEveryMs };
}
