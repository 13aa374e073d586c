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

/** Smaller answers are given even while large ones use up the total. */
const SMALL_BYTES = 64 * 1024;

export type AnswersLimits = Pick<HttpLimits, 'maxAnswerBytes' | 'maxAnswerValues' | 'maxAnswerBytesUnderWay'>;

/** Limits answers to queries and mutations, individually and in total, from their first value until they have been sent. */
export class Answers {
  readonly #limits: AnswersLimits;
  readonly #ledger: Ledger;

  constructor(limits: AnswersLimits) {
    const { maxAnswerBytesUnderWay: total, maxAnswerBytes } = limits;
    this.#limits = limits;
    this.#ledger = new Ledger('large answers', total, Math.max(total * SHARE_OF_USER, maxAnswerBytes));
  }

  /** Bytes of all answers, without small ones. */
  get bytes(): number {
    return this.#ledger.bytes;
  }

  open(caller: Caller): AnswerUnderWay {
    const room = new Room(this.#ledger, holderOf(caller));
    return { answer: new Answer(this.#limits, room), room };
  }
}

export interface AnswerUnderWay {
  readonly answer: Answer;
  /** Disposed when the answer has been sent. */
  readonly room: Disposable;
}

class Room implements AnswerRoom, Disposable {
  readonly #ledger: Ledger;
  readonly #key: string | null;
  #bytes = 0;
  #isOver = false;

  constructor(ledger: Ledger, key: string | null) {
    this.#ledger = ledger;
    this.#key = key;
  }

  resize(bytes: number): GraphQLError | null {
    const counted = Math.max(0, bytes - SMALL_BYTES);
    // The client may have left while it was made.
    if (counted === this.#bytes || this.#isOver) return null;
    const refusal = this.#ledger.refusalOf(this.#key, counted - this.#bytes);
    if (refusal !== null) return refusal;
    this.#ledger.add(this.#key, counted - this.#bytes);
    this.#bytes = counted;
    return null;
  }

  [Symbol.dispose](): void {
    this.#ledger.add(this.#key, -this.#bytes);
    this.#bytes = 0;
    this.#isOver = true;
  }
}
