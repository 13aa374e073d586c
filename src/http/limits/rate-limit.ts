import type { GraphQLError } from 'graphql';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { partIndex } from '../../connections/redis-parts.ts';
import { apiError } from '../../graphql/errors.ts';
import { rateLimitKey, tenantKey, type Caller } from '../identity/caller.ts';

/** How many points may be used in each window of so many seconds. */
export interface Share {
  readonly points: number;
  readonly seconds: number;
}

/** What is counted of each caller and of each tenant. Absent: is not limited. */
export interface RateLimitsOptions {
  /** Requests, and operations on sockets. */
  readonly requests?: Share | undefined;
  /** Objects that operations may ask for; see graphql/limits/cost.ts. */
  readonly cost?: Share | undefined;
  readonly tenantRequests?: Share | undefined;
  readonly tenantCost?: Share | undefined;
  /** Where all processes count together; absent: this one counts alone. */
  readonly shared?: readonly {
    /** A client of Redis; stays the caller's. */
    readonly commands: unknown;
    /** Before the keys, such as `fanfare:<db>:`. */
    readonly prefix: string;
  }[];
}

type Counted = Pick<Caller, 'identity' | 'address'>;

export interface ShareState {
  readonly policy: RatePolicy;
  readonly isOver: boolean;
  readonly remaining: number;
  /** Until the window ends and the share is whole again. */
  readonly msLeft: number;
}

export interface RatePolicy {
  readonly name: 'user' | 'user-cost' | 'tenant' | 'tenant-cost';
  readonly counts: 'requests' | 'cost';
  readonly points: number;
  /** Whole. */
  readonly seconds: number;
}

interface Limit {
  readonly policy: RatePolicy;
  /** Under which a caller is counted; null: not at all. */
  readonly keyOf: (caller: Counted) => string | null;
  readonly consume: (key: string, points: number) => Promise<ShareState>;
}

/**
 * Counts what callers ask for, whatever becomes of it, in all processes on one Redis together. While Redis cannot be
 * reached each process counts on its own: with n of them a client may get n times as much.
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

  /** @param cost as `operationCost`; what is free costs one. */
  countCost(caller: Counted, cost: number): Promise<ShareState[]> {
    return this.#count('cost', caller, Math.max(1, cost));
  }

  async #count(what: RatePolicy['counts'], caller: Counted, points: number): Promise<ShareState[]> {
    const counted = this.#limits.flatMap(({ policy, keyOf, consume }) => {
      const key = policy.counts === what ? keyOf(caller) : null;
      // What costs more than a whole share uses it up, and can be had at the beginning of a window.
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
  // Redis counts windows in whole seconds: a window that is none becomes longer, and what it allows more in proportion.
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
        // Who has used up the share is refused without asking Redis each time.
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

/** The error to refuse with when a share is used up; null: none is. */
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
  'user-cost': 'Operations ask for too much',
  tenant: 'Too many requests of the tenant',
  'tenant-cost': 'Operations of the tenant ask for too much',
};

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-10. No registered unit fits what operations cost, so that policy
 * says what it counts in a parameter of ours, which clients may read as a comment.
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
