import { FeedClientError, networkError } from './errors.ts';
import type { FeedClientOptions } from './types.ts';

/** Gives tokens to one watch or query, and decides whether to ask for another when one was refused. */
export class Tokens {
  readonly #source: FeedClientOptions['token'];
  #last = '';
  #refused: string | undefined;

  constructor(source: FeedClientOptions['token']) {
    this.#source = source;
  }

  /**
   * @param signal ends the wait for a function that may never answer; it is of this call alone
   * @throws FeedClientError TOKEN, or what of this kind the function threw; NETWORK when the signal came first
   */
  async next(signal: AbortSignal): Promise<string> {
    try {
      const source = this.#source;
      this.#last = typeof source === 'string' ? source : await until(signal, source(this.#refused));
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

/** Rejects when the signal comes first. */
function until<T>(signal: AbortSignal, value: T | Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => {
      reject(networkError('The token function did not respond', signal.reason));
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
  });
  return Promise.race([value, aborted]);
}
