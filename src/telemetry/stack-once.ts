import { LRUCache } from 'lru-cache';

/** What a line of the log says of a failure: all of it, or its message, where the stack has been logged before. */
export type Failure = { readonly err: unknown } | { readonly reason: string };

/** Longer than what failed waits before it is tried again. */
const SAME_FOR_MS = 300_000;
const MAX_REASONS = 100;

/** What is tried again fails for the same reason, mostly, and so does what waits beside it: one stack for all. */
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
