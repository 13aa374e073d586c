import type { GraphQLError } from 'graphql';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { partIndex } from '../../connections/redis-parts.ts';
import { apiError } from '../../graphql/errors.ts';
import { rateLimitKey, tenantKey, type Caller } from '../identity/caller.ts';

/** Points allowed per window, and its length in seconds. */
export interface Share {
  readonly points: number;
  readonly seconds: number;
}

/** Limits per caller and per tenant. Absent: not limited. */
export interface RateLimitsOptions {
  /** Requests, and operations on sockets. */
  readonly requests?: Share | undefined;
  /** Objects that operations may request; see graphql/limits/cost.ts. */
  readonly cost?: Share | undefined;
  readonly tenantRequests?: Share | undefined;
  readonly tenantCost?: Share | undefined;
  /** Redis, where all processes count together; absent: this process counts alone. */
  readonly shared?: readonly {
    /** A Redis client, owned by the caller. */
    readonly commands: unknown;
    /** Prefix of the keys, such as `fanfare:<db>:`. */
    readonly prefix: string;
  }[];
}

type Counted = Pick<Caller, 'identity' | 'address'>;

export interface ShareState {
  readonly policy: RatePolicy;
  readonly isOver: boolean;
  readonly remaining: number;
  /** Milliseconds until the window ends and the limit is reset. */
  readonly msLeft: number;
}

export interface RatePolicy {
  readonly name: 'user' | 'user-cost' | 'tenant' | 'tenant-cost';
  readonly counts: 'requests' | 'cost';
  readonly points: number;
  /** Unused. */
  readonly seconds: number;
}

interface Limit {
  readonly policy: RatePolicy;
  /** Key under which a caller is counted; `null`: not counted. */
  readonly keyOf: (caller: Counted) => string | null;
  readonly consume: (key: string, points: number) => Promise<ShareState>;
}

/**
 * Counts requests, whatever their outcome, over all processes on one Redis. While Redis cannot be reached, each process
 * counts on its own, so that with n processes a client may get n times as much.
 */
export class RateLimits {
  readonly #limits: readonly Limit[];

  constructor({ requests, cost, tenantRequests, tenantCost, shared = [] }: RateLimitsOptions) {
    const limits = [
      createLimit('user', 'requests', requests, rateLimitKey, shared),
      createLimit('user-cost', 'cost', cost, rateLimitKey, shared),
      createLimit('tenant', 'requests', tenantRequests, tenantKey, shared),
      createLimit('tenant-cost', 'cost', tenantCost, tenantKey, shared),
    ];
    this.#limits = limits.filter((limit) => limit !== null);
  }

  get hasCost(): boolean {
    return this.#limits.some(({ policy }) => policy.counts === 'cost');
  }

  countRequest(caller: Counted): Promise<ShareState[]> {
    return this.#count('requests', caller, 1);
  }

  /** @param cost from `operationCost`; free operations cost one. */
  countCost(caller: Counted, cost: number): Promise<ShareState[]> {
    return this.#count('cost', caller, Math.max(1, cost));
  }

  async #count(what: RatePolicy['counts'], caller: Counted, points: number): Promise<ShareState[]> {
    const counted = this.#limits.flatMap(({ policy, keyOf, consume }) => {
      const key = policy.counts === what ? keyOf(caller) : null;
      // An operation above the whole limit uses it up, and is allowed at the start of a window.
      return key === null ? [] : [consume(key, Math.min(points, policy.points))];
    });
    return Promise.all(counted);
  }
}

function createLimit(
  name: RatePolicy['name'],
  counts: RatePolicy['counts'],
  share: Share | undefined,
  keyOf: Limit['keyOf'],
  shared: NonNullable<RateLimitsOptions['shared']>,
): Limit | null {
  if (share === undefined) return null;
  // Redis counts windows in whole seconds: other windows are extended, and their points increased in proportion.
  const seconds = Math.max(1, Math.ceil(share.seconds));
  const points = Math.round((share.points * seconds) / share.seconds);
  const policy = { name, counts, points, seconds };
  const window = { points, duration: seconds };
  const own = new RateLimiterMemory(window);
  const limiters = shared.map(
    ({ commands, prefix }) =>
      new RateLimiterRedis({
        ...window,
        storeClient: commands,
        keyPrefix: `${prefix}rate${counts === 'cost' ? '-cost' : ''}`,
        rejectIfRedisNotReady: true,
        insuranceLimiter: own,
        // Callers above the limit are rejected without asking Redis each time.
        inMemoryBlockOnConsumed: points + 1,
      }),
  );
  const stateOf = (result: RateLimiterRes, isOver: boolean): ShareState => ({
    policy,
    isOver,
    remaining: isOver ? 0 : Math.max(0, result.remainingPoints),
    msLeft: Math.max(1, result.msBeforeNext),
  });
  return {
    policy,
    keyOf,
    async consume(key, used) {
      try {
        return stateOf(await (limiters[partIndex(key, limiters.length)] ?? own).consume(key, used), false);
      } catch (error) {
        if (error instanceof RateLimiterRes) return stateOf(error, true);
        throw error;
      }
    },
  };
}

/** An error to reject with when a limit is used up; `null`: none is. */
export function refusalFor(states: readonly ShareState[]): GraphQLError | null {
  const over = states.filter(({ isOver }) => isOver);
  const [first] = over;
  if (first === undefined) return null;
  const seconds = String(Math.max(...over.map(secondsLeft)));
  return apiError('RATE_LIMITED', `${WORDS[first.policy.name]}, try again in ${seconds} s`, {
    status: 429,
    headers: { 'Retry-After': seconds },
  });
}

const WORDS: Readonly<Record<RatePolicy['name'], string>> = {
  user: 'Too many requests',
  'user-cost': 'Operations request too many objects',
  tenant: 'Too many requests of the tenant',
  'tenant-cost': 'Operations of the tenant request too many objects',
};

/**
 * The header fields of draft-ietf-httpapi-ratelimit-headers-10. No registered unit fits the cost of operations, so that
 * policy names its unit in a parameter of our own, which clients may ignore.
 */
export function rateLimitHeaders(states: readonly ShareState[]): Readonly<Record<string, string>> {
  if (states.length === 0) return {};
  const policies = states.map(({ policy: { name, points, seconds, counts } }) => {
    const unit = counts === 'cost' ? ';fanfare-unit="objects"' : '';
    return `"${name}";q=${String(points)};w=${String(seconds)}${unit}`;
  });
  const left = states.map(
    (state) => `"${state.policy.name}";r=${String(state.remaining)};t=${String(secondsLeft(state))}`,
  );
  return { 'ratelimit-policy': policies.join(', '), ratelimit: left.join(', ') };
}

function secondsLeft({ msLeft }: ShareState): number {
  return Math.ceil(msLeft / 1_000);
}
