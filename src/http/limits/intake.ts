import type { Identity } from '../../domain/viewer.ts';
import { apiError } from '../../graphql/errors.ts';
import { rateLimitKey, type Caller } from '../identity/caller.ts';
import type { HttpLimits } from './limits.ts';

/** The first bytes of each body, which count apart: small requests are answered while large ones wait for their turn. */
const FIRST_BYTES = 16 * 1024;
/** What the first bytes of all bodies may be in sum, however little is allowed for large ones. */
const MIN_FIRST_BYTES_UNDER_WAY = 16 * 1024 * 1024;
/** What is larger than this is parsed, and looked at, in turns of the event loop of their own. */
export const LARGE_BYTES = 64 * 1024;
/** What one user may have under way, as a part of the whole. */
const SHARE_OF_USER = 1 / 8;
const RETRY_AFTER_S = '1';

export type BodyLimits = Pick<
  HttpLimits,
  'maxBodyBytes' | 'maxUserBodyBytes' | 'maxAnonymousBodyBytes' | 'maxBodyBytesUnderWay'
>;

function isTrusted(identity: Identity | null): boolean {
  return identity !== null && (identity.roles.has('service') || identity.roles.has('admin'));
}

/** The largest body, or message, that is read from a caller, in bytes. */
export function maxBodyOf({ identity }: Pick<Caller, 'identity'>, limits: BodyLimits): number {
  if (isTrusted(identity)) return limits.maxBodyBytes;
  return Math.min(
    limits.maxBodyBytes,
    identity === null ? limits.maxAnonymousBodyBytes : limits.maxUserBodyBytes,
  );
}

/** A body under way. It counts from its first byte until it is disposed of, when its request has been answered. */
export interface BodyUnderWay extends Disposable {
  /** Says how large the body is, or has become. The error to refuse it with; null when there is room. */
  resize(bytes: number): Error | null;
}

/** The bodies that are read or worked on: each is bounded; in sum they are too, or a few clients would fill the memory. */
export class Intake {
  readonly #first: Ledger;
  readonly #rest: Ledger;

  constructor({ maxBodyBytesUnderWay: total, maxUserBodyBytes }: BodyLimits) {
    const first = Math.max(total, MIN_FIRST_BYTES_UNDER_WAY);
    this.#first = new Ledger('small', first, first * SHARE_OF_USER);
    this.#rest = new Ledger('large', total, Math.max(total * SHARE_OF_USER, maxUserBodyBytes));
  }

  /** Bytes under way, without the first ones of each body. */
  get bytes(): number {
    return this.#rest.bytes;
  }

  /** @param caller service and admin are bounded by the whole alone */
  open(caller: Caller): BodyUnderWay {
    const key = isTrusted(caller.identity) ? null : rateLimitKey(caller);
    let [first, rest] = [0, 0];
    return {
      resize: (bytes) => {
        const moreFirst = Math.min(bytes, FIRST_BYTES) - first;
        const moreRest = Math.max(0, bytes - FIRST_BYTES) - rest;
        const refusal = this.#first.refusalOf(key, moreFirst) ?? this.#rest.refusalOf(key, moreRest);
        if (refusal !== null) return refusal;
        this.#first.add(key, moreFirst);
        this.#rest.add(key, moreRest);
        [first, rest] = [first + moreFirst, rest + moreRest];
        return null;
      },
      [Symbol.dispose]: () => {
        this.#first.add(key, -first);
        this.#rest.add(key, -rest);
        [first, rest] = [0, 0];
      },
    };
  }
}

/** A sum of bytes, bounded in all and for each user. */
class Ledger {
  readonly #what: string;
  readonly #max: number;
  readonly #maxOfUser: number;
  readonly #bytesByUser = new Map<string, number>();
  #bytes = 0;

  constructor(what: string, max: number, maxOfUser: number) {
    this.#what = what;
    this.#max = max;
    this.#maxOfUser = maxOfUser;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The error to refuse more with; null where there is room. */
  refusalOf(key: string | null, more: number): Error | null {
    if (more <= 0) return null;
    if (this.#bytes + more > this.#max)
      return refusal('UNAVAILABLE', 503, `Too many ${this.#what} requests are under way`);
    if (key !== null && (this.#bytesByUser.get(key) ?? 0) + more > this.#maxOfUser)
      return refusal('RATE_LIMITED', 429, `Too many ${this.#what} requests of this user are under way`);
    return null;
  }

  add(key: string | null, more: number): void {
    this.#bytes += more;
    if (key === null || more === 0) return;
    const bytes = (this.#bytesByUser.get(key) ?? 0) + more;
    if (bytes === 0) this.#bytesByUser.delete(key);
    else this.#bytesByUser.set(key, bytes);
  }
}

function refusal(code: 'UNAVAILABLE' | 'RATE_LIMITED', status: number, message: string): Error {
  return apiError(code, `${message}, try again in ${RETRY_AFTER_S} s`, {
    status,
    headers: { 'Retry-After': RETRY_AFTER_S },
  });
}
