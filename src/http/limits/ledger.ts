import type { GraphQLError } from 'graphql';
import { Tally } from '../../lib/tally.ts';
import { busy } from './busy.ts';

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
