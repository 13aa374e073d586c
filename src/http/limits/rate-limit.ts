import type { GraphQLError } from 'graphql';
import { apiError } from '../../graphql/errors.ts';
import { isTrusted } from '../../domain/viewer.ts';
import { rateLimitKey, tenantKey, type Counted } from '../identity/auth.ts';
import type { RedisPart } from '../../connections/redis-parts.ts';
import { Windows, type Share } from '../../connections/windows.ts';

/** Limits per caller and per tenant. Absent: not limited. */
export interface RateLimitsOptions {
  /** Requests, and operations on sockets. */
  readonly requests?: Share | undefined;
  /** Objects that operations may request; see graphql/limits/cost.ts. */
  readonly cost?: Share | undefined;
  readonly tenantRequests?: Share | undefined;
  readonly tenantCost?: Share | undefined;
  /** Redis, where all processes count together; absent: this process counts alone. */
  readonly shared?: readonly RedisPart[];
}

export interface ShareState {
  readonly policy: RatePolicy;
  readonly isOver: boolean;
  /** The caller's part of it is, and others have some left. */
  readonly isOwnPart: boolean;
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
  readonly windows: Windows;
  /** Key under which a caller is counted; `null`: not counted. */
  readonly keyOf: (caller: Counted) => string | null;
}

/**
 * Counts requests, whatever their outcome, over all processes on one Redis. While Redis cannot be reached, each process
 * counts on its own, so that with n processes a client may get n times as much.
 */
export class RateLimits {
  readonly #limits: readonly Limit[];

  constructor({ requests, cost, tenantRequests, tenantCost, shared = [] }: RateLimitsOptions) {
    const limits = [
      limitOf('user', 'requests', requests, rateLimitKey, shared),
      limitOf('user-cost', 'cost', cost, rateLimitKey, shared),
      limitOf('tenant', 'requests', tenantRequests, tenantKey, shared),
      limitOf('tenant-cost', 'cost', tenantCost, tenantKey, shared),
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
    const counted = this.#limits.flatMap((limit) => {
      const key = limit.policy.counts === what ? limit.keyOf(caller) : null;
      return key === null ? [] : [countOf(limit, key, caller, points)];
    });
    return Promise.all(counted);
  }
}

function limitOf(
  name: RatePolicy['name'],
  counts: RatePolicy['counts'],
  share: Share | undefined,
  keyOf: Limit['keyOf'],
  shared: readonly RedisPart[],
): Limit | null {
  if (share === undefined) return null;
  const windows = new Windows(counts, share, shared);
  const { points, seconds } = windows;
  return { policy: { name, counts, points, seconds }, windows, keyOf };
}

async function countOf(
  { policy, windows }: Limit,
  key: string,
  { identity }: Counted,
  points: number,
): Promise<ShareState> {
  const isShared = policy.name.startsWith('tenant');
  const wanted = {
    key,
    holder: isShared && identity !== null && !isTrusted(identity) ? identity.userId : null,
    // An operation above the whole limit uses it up, and is allowed at the start of a window.
    points: Math.min(points, policy.points),
    isPartial: false,
  };
  const { granted, left, leftForAll, msLeft } = await windows.take(wanted);
  const isOver = granted === 0;
  return {
    policy,
    isOver,
    isOwnPart: isOver && wanted.holder !== null && leftForAll >= wanted.points,
    remaining: left,
    msLeft: Math.max(1, msLeft),
  };
}

/** An error to reject with when a limit is used up; `null`: none is. */
export function refusalFor(states: readonly ShareState[]): GraphQLError | null {
  const over = states.filter(({ isOver }) => isOver);
  const [first] = over;
  if (first === undefined) return null;
  const seconds = String(Math.max(...over.map(secondsLeft)));
  const what = first.isOwnPart ? OWN_WORDS[first.policy.counts] : WORDS[first.policy.name];
  return apiError('RATE_LIMITED', `${what}, try again in ${seconds} s`, {
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

const OWN_WORDS: Readonly<Record<RatePolicy['counts'], string>> = {
  requests: "Too many requests for one user's part of the tenant's limit",
  cost: "Operations request too many objects for one user's part of the tenant's limit",
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
