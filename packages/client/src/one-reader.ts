import { FeedClientError } from './errors.ts';
import { Turns } from './turns.ts';

/** By which the server says whose its answer is: of a response, and in the payload of a socket's `connection_ack`. */
export const READER_HEADER = 'fanfare-reader';

/**
 * Whose answers a client gives. What is under way for one reader ends as soon as the server answers for another, and nothing
 * of that is given to anybody.
 */
export class OneReader {
  readonly #turns = new Turns();
  #is: string | undefined;
  #end = new AbortController();
  #isClosed = false;
  /** What ends with the reader. */
  readonly #running = new Set<() => void>();

  /** Comes when the answers are another reader's from then on, or the client is closed. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** @throws FeedClientError READER_CHANGED @param who as the server says it; absent: it does not */
  check(who: unknown): void {
    if (typeof who !== 'string') return;
    if (this.#is !== undefined && this.#is !== who) {
      const { signal } = this.#end;
      this.#is = who;
      this.#over('READER_CHANGED', 'The token is of another reader');
      throw signal.reason;
    }
    this.#is = who;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#over('CLOSED', 'The client is closed');
  }

  #over(code: string, message: string): void {
    const ended = this.#end;
    if (!this.#isClosed) this.#end = new AbortController();
    ended.abort(new FeedClientError(code, message));
    for (const end of [...this.#running]) end();
  }

  /**
   * Runs for the reader of now, with a signal that comes with theirs and the given one. Rejects with why, as soon as theirs
   * has come.
   */
  async during<T>(given: AbortSignal | undefined, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#end;
    signal.throwIfAborted();
    const either = new AbortController();
    const abort = (): void => {
      either.abort();
    };
    given?.addEventListener('abort', abort);
    if (given?.aborted === true) abort();
    let end = abort;
    const over = new Promise<never>((_, reject) => {
      end = () => {
        abort();
        reject(signal.reason as Error);
      };
    });
    this.#running.add(end);
    try {
      return await Promise.race([over, run(either.signal)]);
    } finally {
      given?.removeEventListener('abort', abort);
      this.#running.delete(end);
    }
  }

  /** As `Turns` has it. What waits for its turn ends with the reader. */
  inTurn<T>(of: string, run: () => Promise<T>): Promise<T> {
    const { signal } = this.#end;
    return this.#turns.take(of, async () => {
      signal.throwIfAborted();
      return this.during(undefined, run);
    });
  }
}
