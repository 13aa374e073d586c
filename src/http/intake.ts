import type { Identity } from '../domain/viewer.ts';
import { apiError } from '../graphql/errors.ts';
import { rateLimitKey, type Caller } from './caller.ts';
import type { HttpLimits } from './limits.ts';

/** Bytes of each body that are not counted: small requests are answered while large ones wait for their turn. */
const FREE_BYTES = 16 * 1024;
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

/**
 * Counts the bodies that are read or worked on, of requests and socket messages alike. Each is bounded; in sum they are
 * too, or a few clients would fill the memory of the process.
 */
export class Intake {
  readonly #limits: BodyLimits;
  readonly #bytesByUser = new Map<string, number>();
  #bytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Bytes under way, without those that are not counted. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param caller service and admin are bounded by the whole alone */
  open(caller: Caller): BodyUnderWay {
    const key = isTrusted(caller.identity) ? null : rateLimitKey(caller);
    let counted = 0;
    return {
      resize: (bytes) => {
        const more = Math.max(0, bytes - FREE_BYTES) - counted;
        const refusal = more > 0 ? this.#refusalOf(key, more) : null;
        if (refusal !== null) return refusal;
        counted += more;
        this.#add(key, more);
        return null;
      },
      [Symbol.dispose]: () => {
        this.#add(key, -counted);
        counted = 0;
      },
    };
  }

  #refusalOf(key: string | null, more: number): Error | null {
    const { maxBodyBytesUnderWay, maxUserBodyBytes } = this.#limits;
    if (this.#bytes + more > maxBodyBytesUnderWay)
      return refusal('UNAVAILABLE', 503, 'Too many large requests are under way');
    const share = Math.max(maxBodyBytesUnderWay * SHARE_OF_USER, maxUserBodyBytes);
    if (key !== null && (this.#bytesByUser.get(key) ?? 0) + more > share)
      return refusal('RATE_LIMITED', 429, 'Too many large requests of this user are under way');
    return null;
  }

  #add(key: string | null, more: number): void {
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
