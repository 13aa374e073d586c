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
      const token: unknown = typeof source === 'string' ? source : await until(signal, source(this.#refused));
      if (typeof token !== 'string' || !SENDABLE.test(token)) throw noToken(token);
      this.#last = token;
      return token;
    } catch (error) {
      if (error instanceof FeedClientError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new FeedClientError('TOKEN', `There is no token: ${reason}`, { cause: error });
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

/** Of a header, and not a page. An empty one is for the server to refuse. */
const SENDABLE = /^(?! *<)[\x20-\x7e]*$/;

function noToken(given: unknown): FeedClientError {
  // Only what is a page, as of a sign-in, is shown: something else may be a secret.
  const isPage = typeof given === 'string' && given.trimStart().startsWith('<');
  const what = isPage
    ? `a page: ${given.trim().slice(0, 40)} …`
    : typeof given === 'string'
      ? 'a text with characters that no token has'
      : String(given);
  return new FeedClientError('TOKEN', `There is no token: what was given is ${what}`);
}

/** Rejects when the signal comes first. */
function until<T>(signal: AbortSignal, value: T | Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => {
      reject(networkError('The token function does not answer', signal.reason));
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
  });
  return Promise.race([value, aborted]);
}
