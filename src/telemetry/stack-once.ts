import { LRUCache } from 'lru-cache';

/** How a failure is logged: completely, or by its message when the stack has been logged before. */
export type Failure = { readonly err: unknown } | { readonly reason: string };

/** Longer than the backoff of failed work. */
const SAME_FOR_MS = 300_000;
const MAX_REASONS = 100;

/** Retries, and other work of the same time, usually fail for the same reason: logs a single stack for all of them. */
export function createStackOnce(now: () => number = () => performance.now()): (err: unknown) => Failure {
  const logged = new LRUCache<string, number>({ max: MAX_REASONS });
  return (err) => {
    if (!(err instanceof Error)) return { err };
    const key = `${err.name}: ${err.message}`;
    const at = logged.get(key);
    logged.set(key, now());
    return at === undefined || now() - at >= SAME_FOR_MS ? { err } : { reason: err.message };
  };
}
