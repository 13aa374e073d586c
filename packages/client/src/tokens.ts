import { FeedClientError } from './errors.ts';
import type { FeedClientOptions } from './types.ts';

/** Gives tokens to one watch or query, and decides whether to ask for another when one was refused. */
export class Tokens {
  readonly #source: FeedClientOptions['token'];
  #last = '';
  #refused: string | undefined;

  constructor(source: FeedClientOptions['token']) {
    this.#source = source;
  }

  /** @throws FeedClientError TOKEN, or what of this kind the function threw */
  async next(): Promise<string> {
    try {
      this.#last = typeof this.#source === 'string' ? this.#source : await this.#source(this.#refused);
      return this.#last;
    } catch (error) {
      if (error instanceof FeedClientError) throw error;
      throw new FeedClientError('TOKEN', 'There is no token', { cause: error });
    }
  }

  /** The server has taken the last token. */
  accepted(): void {
    this.#refused = undefined;
  }

  /** The server has refused the last token. True when it is worth asking for another. */
  refused(): boolean {
    const isFirst = this.#refused === undefined;
    this.#refused = this.#last;
    return isFirst && typeof this.#source === 'function';
  }
}
