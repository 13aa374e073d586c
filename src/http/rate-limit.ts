import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Counts what each client asks for. */
export interface RateLimiter {
  /** How long to wait, in milliseconds, when `key` has used up its share; null when it may go on. */
  consume(key: string): Promise<number | null>;
}

/**
 * Allows `points` operations per key in each window of `seconds`. Counts in this process alone: with n API processes
 * behind a load balancer a client may get n times as much.
 */
export function createRateLimiter(options: {
  readonly points: number;
  readonly seconds: number;
}): RateLimiter {
  const limiter = new RateLimiterMemory({ points: options.points, duration: options.seconds });
  return {
    async consume(key) {
      try {
        await limiter.consume(key);
        return null;
      } catch (error) {
        if (error instanceof RateLimiterRes) return Math.max(1, error.msBeforeNext);
        throw error;
      }
    },
  };
}
