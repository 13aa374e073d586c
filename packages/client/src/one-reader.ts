import { FeedClientError } from './errors.ts';
import { following } from './within.ts';

/**
 * Names a reader. In a response, and in the payload of a socket's `connection_ack`: whose token the server was given. In a request:
 * whose it has to be.
 */
const READER_HEADER = 'fanfare-reader';
/** In the same places: the language of the sentences. */
const LANGUAGE_HEADER = 'content-language';

/**
 * Whose answers a client gives. What is under way for one reader ends as soon as the server answers for another, and nothing
 * of that is given to anybody.
 */
export class OneReader {
  /** Of the sentences; undefined before the first answer. */
  declare language: string | undefined;
  #is: string | undefined;
  #end = new AbortController();
  /** What ends with the reader. Not by listeners at the signal: Node warns of more than ten. */
  readonly #running = new Set<(error: Error) => void>();
  /** The end of the last turn of each thing. */
  readonly #turns = new Map<string, Promise<unknown>>();

  /** Aborted when the server answers for another reader from then on, or the client is closed. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Of a request: the server refuses it if the token is of somebody else. */
  get headers(): Readonly<Record<string, string>> {
    return this.#is === undefined ? {} : { [READER_HEADER]: this.#is };
  }

  /** @param said reads a header of the answer by its name @throws FeedClientError READER_CHANGED */
  check(said: (name: string) => string | null | undefined): void {
    const who = said(READER_HEADER);
    if (who == null) return;
    const former = this.#is;
    this.#is = who;
    this.language = said(LANGUAGE_HEADER) ?? undefined;
    if (former === undefined || former === who) return;
    const ended = this.#end;
    this.#end = new AbortController();
    throw this.#over(ended, new FeedClientError('READER_CHANGED', 'The token is of another reader'));
  }

  close(): void {
    this.#over(this.#end, new FeedClientError('CLOSED', 'The client is closed'));
  }

  #over(ended: AbortController, error: Error): Error {
    const running = [...this.#running];
    ended.abort(error);
    for (const end of running) end(error);
    return error;
  }

  /**
   * Runs for the reader of now. The signal that it is given is aborted with theirs or the given one. Rejects with the reason as soon
   * as theirs is aborted.
   */
  async during<T>(given: AbortSignal | undefined, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#end;
    signal.throwIfAborted();
    return following(given, (end) => {
      let leave!: (error: Error) => void;
      const over = new Promise<never>((_, reject) => {
        leave = (error) => {
          end.abort();
          reject(error);
        };
      });
      this.#running.add(leave);
      return Promise.race([over, run(end.signal)]).finally(() => this.#running.delete(leave));
    });
  }

  /**
   * Runs what concerns one thing one after the other, in the order of the calls. What waits for its turn ends with the reader.
   * @param of names the thing; what concerns another one does not wait
   */
  inTurn<T>(of: string, run: () => Promise<T>): Promise<T> {
    const { signal } = this.#end;
    const take = async (): Promise<T> => {
      signal.throwIfAborted();
      return this.during(undefined, run);
    };
    const turn = this.#turns.get(of)?.then(take) ?? take();
    const over = turn
      .catch(() => undefined)
      .then(() => {
        if (this.#turns.get(of) === over) this.#turns.delete(of);
      });
    this.#turns.set(of, over);
    return turn;
  }
}
