import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { partIndex } from '../connections/redis-parts.ts';
import type { PublicationQuota } from '../services/tenants/quotas.ts';
import type { RateLimitsOptions, Share } from './rate-limit.ts';

/**
 * Counts publications of each tenant in windows, in all processes on one Redis together. While Redis cannot be reached each
 * process counts on its own.
 */
export function createPublicationQuota(
  { points, seconds }: Share,
  shared: NonNullable<RateLimitsOptions['shared']> = [],
): PublicationQuota {
  const duration = Math.max(1, Math.ceil(seconds));
  const window = { points: Math.round((points * duration) / seconds), duration };
  const own = new RateLimiterMemory(window);
  const limiters = shared.map(
    ({ commands, prefix }) =>
      new RateLimiterRedis({
        ...window,
        storeClient: commands,
        keyPrefix: `${prefix}published`,
        rejectIfRedisNotReady: true,
        insuranceLimiter: own,
      }),
  );
  const limiterOf = (tenant: string) => limiters[partIndex(tenant, limiters.length)] ?? own;
  return {
    async take(tenant, count) {
      try {
        const { msBeforeNext } = await limiterOf(tenant).consume(tenant, count);
        return { granted: count, msLeft: msBeforeNext };
      } catch (error) {
        if (!(error instanceof RateLimiterRes)) throw error;
        const before = error.consumedPoints - count;
        return {
          granted: Math.min(count, Math.max(0, window.points - before)),
          msLeft: error.msBeforeNext,
        };
      }
    },
    async giveBack(tenant, count) {
      await limiterOf(tenant).reward(tenant, count);
    },
  };
}
