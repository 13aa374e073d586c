import { isTrusted } from '../../domain/viewer.ts';
import { holderOf, type Caller } from '../identity/auth.ts';
import { Ledger } from './answers.ts';
import { SHARE_OF_USER, type HttpLimits } from './limits.ts';

/** First bytes of each body, counted separately, so that small requests are answered while large ones wait. */
const FIRST_BYTES = 16 * 1024;
/** Minimum allowance for the first bytes of all bodies, however little is allowed for large ones. */
const MIN_FIRST_BYTES_UNDER_WAY = 16 * 1024 * 1024;
/** Larger bodies are parsed and examined in separate turns of the event loop. */
export const LARGE_BYTES = 64 * 1024;

export type BodyLimits = Pick<
  HttpLimits,
  'maxBodyBytes' | 'maxUserBodyBytes' | 'maxAnonymousBodyBytes' | 'maxBodyBytesUnderWay'
>;

/** Maximum size of a caller's body or message, in bytes. */
export function maxBodyOf({ identity }: Caller, limits: BodyLimits): number {
  if (identity !== null && isTrusted(identity)) return limits.maxBodyBytes;
  return Math.min(
    limits.maxBodyBytes,
    identity === null ? limits.maxAnonymousBodyBytes : limits.maxUserBodyBytes,
  );
}

/** A body in flight. Counts from its first byte until disposed, when its request has been answered. */
export interface BodyUnderWay extends Disposable {
  /** Reports the current size of the body. Returns an error to reject it with; `null` when there is room. */
  resize(bytes: number): Error | null;
}

/** Limits bodies in flight, individually and in total: otherwise a few clients could fill the memory. */
export class Intake {
  readonly #first: Ledger;
  readonly #rest: Ledger;

  constructor({ maxBodyBytesUnderWay: total, maxUserBodyBytes }: BodyLimits) {
    const first = Math.max(total, MIN_FIRST_BYTES_UNDER_WAY);
    this.#first = new Ledger('small requests', first, first * SHARE_OF_USER);
    this.#rest = new Ledger('large requests', total, Math.max(total * SHARE_OF_USER, maxUserBodyBytes));
  }

  /** Bytes in flight, without the first ones of each body. */
  get bytes(): number {
    return this.#rest.bytes;
  }

  /** @param caller services and admins are limited by the total only */
  open(caller: Caller): BodyUnderWay {
    const key = holderOf(caller);
    return new Body(key, this.#first, this.#rest);
  }
}

/** A class instead of an object of functions: an open subscription keeps that of the message it began with. */
class Body implements BodyUnderWay {
  readonly #key: string | null;
  readonly #firstLedger: Ledger;
  readonly #restLedger: Ledger;
  #first = 0;
  #rest = 0;

  constructor(key: string | null, first: Ledger, rest: Ledger) {
    this.#key = key;
    this.#firstLedger = first;
    this.#restLedger = rest;
  }

  resize(bytes: number): Error | null {
    const key = this.#key;
    const moreFirst = Math.min(bytes, FIRST_BYTES) - this.#first;
    const moreRest = Math.max(0, bytes - FIRST_BYTES) - this.#rest;
    const refusal = this.#firstLedger.refusalOf(key, moreFirst) ?? this.#restLedger.refusalOf(key, moreRest);
    if (refusal !== null) return refusal;
    this.#firstLedger.add(key, moreFirst);
    this.#restLedger.add(key, moreRest);
    this.#first += moreFirst;
    this.#rest += moreRest;
    return null;
  }

  [Symbol.dispose](): void {
    this.#firstLedger.add(this.#key, -this.#first);
    this.#restLedger.add(this.#key, -this.#rest);
    this.#first = 0;
    this.#rest = 0;
  }
}
