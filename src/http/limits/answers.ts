import type { GraphQLError } from 'graphql';
import { Answer, type AnswerRoom } from '../../graphql/rendering/answer.ts';
import { holderOf, type Caller } from '../identity/auth.ts';
import { SHARE_OF_USER, type HttpLimits } from './limits.ts';
import { Tally } from '../../lib/tally.ts';
import { busy } from './request-lanes.ts';

/** A sum of bytes in memory, limited in total and per user. */
export class Ledger {
  readonly #what: string;
  readonly #max: number;
  readonly #maxOfUser: number;
  readonly #tally = new Tally();

  /** @param what such as "large requests". */
  constructor(what: string, max: number, maxOfUser: number) {
    this.#what = what;
    this.#max = max;
    this.#maxOfUser = maxOfUser;
  }

  get bytes(): number {
    return this.#tally.total;
  }

  /** An error to reject more bytes with; `null` when there is room. */
  refusalOf(key: string | null, more: number): GraphQLError | null {
    if (more <= 0) return null;
    if (this.#tally.total + more > this.#max)
      return busy('UNAVAILABLE', `Too many ${this.#what} are in progress`);
    if (key !== null && this.#tally.of(key) + more > this.#maxOfUser)
      return busy('RATE_LIMITED', `Too many ${this.#what} of this user are in progress`);
    return null;
  }

  add(key: string | null, more: number): void {
    this.#tally.add(key, more);
  }
}

/** The part of a body or an answer that a ledger counts. */
export interface Counted {
  readonly ledger: Ledger;
  readonly of: (bytes: number) => number;
}

/**
 * A body or an answer in memory, counted from its first byte until disposed. A class instead of an object of functions: an open
 * subscription keeps that of the message it began with.
 */
export class UnderWay implements AnswerRoom, Disposable {
  readonly #key: string | null;
  readonly #counted: readonly Counted[];
  /** `null`: disposed. */
  #bytes: number | null = 0;

  constructor(key: string | null, counted: readonly Counted[]) {
    this.#key = key;
    this.#counted = counted;
  }

  /** Reports its current size. Returns an error to reject it with; `null` when there is room. */
  resize(bytes: number): GraphQLError | null {
    const before = this.#bytes;
    // The client may have left while it was made.
    if (before === null) return null;
    for (const { ledger, of } of this.#counted) {
      const refusal = ledger.refusalOf(this.#key, of(bytes) - of(before));
      if (refusal !== null) return refusal;
    }
    for (const { ledger, of } of this.#counted) ledger.add(this.#key, of(bytes) - of(before));
    this.#bytes = bytes;
    return null;
  }

  [Symbol.dispose](): void {
    for (const { ledger, of } of this.#counted) ledger.add(this.#key, -of(this.#bytes ?? 0));
    this.#bytes = null;
  }
}

/** Smaller answers are given even while large ones use up the total. */
const SMALL_BYTES = 64 * 1024;

export type AnswersLimits = Pick<HttpLimits, 'maxAnswerBytes' | 'maxAnswerValues' | 'maxAnswerBytesUnderWay'>;

/** Limits answers to queries and mutations, individually and in total, from their first value until they have been sent. */
export class Answers {
  readonly #limits: AnswersLimits;
  readonly #ledger: Ledger;
  readonly #counted: readonly Counted[];

  constructor(limits: AnswersLimits) {
    const { maxAnswerBytesUnderWay: total, maxAnswerBytes } = limits;
    this.#limits = limits;
    this.#ledger = new Ledger('large answers', total, Math.max(total * SHARE_OF_USER, maxAnswerBytes));
    this.#counted = [{ ledger: this.#ledger, of: (bytes) => Math.max(0, bytes - SMALL_BYTES) }];
  }

  /** Bytes of all answers, without small ones. */
  get bytes(): number {
    return this.#ledger.bytes;
  }

  open(caller: Caller): AnswerUnderWay {
    const room = new UnderWay(holderOf(caller), this.#counted);
    return { answer: new Answer(this.#limits, room), room };
  }
}

export interface AnswerUnderWay {
  readonly answer: Answer;
  /** Disposed when the answer has been sent. */
  readonly room: Disposable;
}
