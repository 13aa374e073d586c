import type { GraphQLError } from 'graphql';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { partIndex } from '../connections/redis-parts.ts';
import { apiError } from '../graphql/errors.ts';
import { rateLimitKey, type Caller } from './caller.ts';

/** Counts what each client asks for, whatever becomes of it. */
export interface RateLimiter {
  /** How long to wait, in milliseconds, when `key` has used up its share; null when it may go on. */
  consume(key: string): Promise<number | null>;
}

export interface RateLimiterOptions {
  readonly points: number;
  readonly seconds: number;
  /** Where all processes count together; absent: this one counts alone. */
  readonly shared?: readonly {
    /** A client of Redis; stays the caller's. */
    readonly commands: unknown;
    /** Before the keys, such as `fanfare:<db>:`. */
    readonly prefix: string;
  }[];
}

/**
 * Allows `points` operations per key in each window of `seconds`, in all processes on one Redis together. While Redis
 * cannot be reached each process counts on its own: with n of them a client may get n times as much.
 */
export function createRateLimiter({ points, seconds, shared = [] }: RateLimiterOptions): RateLimiter {
  // Redis counts windows in whole seconds: a window that is none becomes longer, and what it allows more in proportion.
  const duration = Math.max(1, Math.ceil(seconds));
  const window = { points: Math.round((points * duration) / seconds), duration };
  const own = new RateLimiterMemory(window);
  const limiters = shared.map(
    ({ commands, prefix }) =>
      new RateLimiterRedis({
        ...window,
        storeClient: commands,
        keyPrefix: `${prefix}rate`,
        rejectIfRedisNotReady: true,
        insuranceLimiter: own,
        // Who has used up the share is refused without asking Redis each time.
        inMemoryBlockOnConsumed: window.points + 1,
      }),
  );
  return {
    async consume(key) {
      try {
        await (limiters[partIndex(key, limiters.length)] ?? own).consume(key);
        return null;
      } catch (error) {
        if (error instanceof RateLimiterRes) return Math.max(1, error.msBeforeNext);
        throw error;
      }
    },
  };
}

/** Counts a request of a caller. Gives the error to refuse it with when it is one too many. */
export async function overRate(
  limiter: RateLimiter | undefined,
  caller: Pick<Caller, 'identity' | 'address'>,
): Promise<GraphQLError | null> {
  const waitMs = (await limiter?.consume(rateLimitKey(caller))) ?? null;
  if (waitMs === null) return null;
  const seconds = String(Math.ceil(waitMs / 1_000));
  return apiError('RATE_LIMITED', `Too many requests, try again in ${seconds} s`, {
    status: 429,
    headers: { 'Retry-After': seconds },
  });
}
