import { partIndex, type RedisPart } from '../../connections/redis-parts.ts';
import type { PublicationQuota, TakenPublications } from '../../services/tenants/quotas.ts';
import type { Share } from './rate-limit.ts';

type QuotaPart = Pick<RedisPart, 'commands' | 'prefix'>;

/**
 * Takes as many as are left and no more: rejected publications use nothing. Each window has a name, so that publications
 * returned after its end do not count in the next one. KEYS: of the tenant. ARGV: number wanted, points of a window, its
 * milliseconds, a name for a new window.
 */
const TAKE = `
local used = tonumber(redis.call('HGET', KEYS[1], 'used'))
if not used then
  used = 0
  redis.call('HSET', KEYS[1], 'used', '0', 'window', ARGV[4])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
local granted = math.max(0, math.min(tonumber(ARGV[1]), tonumber(ARGV[2]) - used))
redis.call('HINCRBY', KEYS[1], 'used', granted)
return {granted, redis.call('PTTL', KEYS[1]), redis.call('HGET', KEYS[1], 'window')}
`;

/** KEYS: of the tenant. ARGV: number, and name of the window they were taken from. */
const GIVE_BACK = `
if redis.call('HGET', KEYS[1], 'window') ~= ARGV[2] then return 0 end
return redis.call('HINCRBY', KEYS[1], 'used', -ARGV[1])
`;

/**
 * Counts each tenant's publications in windows, over all processes on one Redis. While Redis cannot be reached, each process
 * counts on its own.
 */
export function createPublicationQuota(
  { points, seconds }: Share,
  parts: readonly QuotaPart[] = [],
): PublicationQuota {
  const windowMs = Math.max(1, Math.ceil(seconds)) * 1_000;
  const most = Math.round((points * windowMs) / (seconds * 1_000));
  const takeHere = countedHere(most, windowMs);
  return {
    async take(tenant, count) {
      const part = parts[partIndex(tenant, parts.length)];
      return (
        (part === undefined ? null : await countedTogether(part, { tenant, count, most, windowMs })) ??
        takeHere(tenant, count)
      );
    },
  };
}

function countedHere(most: number, windowMs: number) {
  const windows = new Map<string, { used: number; readonly endsAt: number }>();
  return (tenant: string, count: number): TakenPublications => {
    let window = windows.get(tenant);
    if (window === undefined) {
      window = { used: 0, endsAt: performance.now() + windowMs };
      windows.set(tenant, window);
      setTimeout(() => windows.delete(tenant), windowMs).unref();
    }
    const taken = window;
    const granted = Math.max(0, Math.min(count, most - window.used));
    window.used += granted;
    return {
      granted,
      msLeft: window.endsAt - performance.now(),
      giveBack: (some) => {
        taken.used -= some;
        return Promise.resolve();
      },
    };
  };
}

interface Wanted {
  readonly tenant: string;
  readonly count: number;
  readonly most: number;
  readonly windowMs: number;
}

/** `null`: Redis cannot be reached. */
async function countedTogether(
  { commands, prefix }: QuotaPart,
  { tenant, count, most, windowMs }: Wanted,
): Promise<TakenPublications | null> {
  const key = `${prefix}publications:${tenant}`;
  const ask = async (script: string, ...args: (string | number)[]): Promise<unknown> => {
    // Without a connection a command would fail; its owner logs why.
    if (commands.status !== 'ready') return null;
    return commands.eval(script, 1, key, ...args).catch(() => null);
  };
  const reply = await ask(TAKE, count, most, windowMs, crypto.randomUUID());
  if (!Array.isArray(reply)) return null;
  const [granted, msLeft, window] = reply.map(String);
  if (window === undefined) return null;
  return {
    granted: Number(granted),
    msLeft: Number(msLeft),
    async giveBack(some) {
      await ask(GIVE_BACK, some, window);
    },
  };
}
