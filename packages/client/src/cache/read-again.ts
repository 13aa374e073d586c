import { backoffMs, pause, type Backoff } from '../backoff.ts';
import { FeedClientError } from '../errors.ts';

/** Reads once at a time, and once more for what came meanwhile; again and again while the server cannot be reached. */
export class ReadAgain {
  readonly #read: () => Promise<unknown>;
  readonly #backoff: Backoff;
  readonly #end = new AbortController();
  #isRunning = false;
  #isWanted = false;

  constructor(read: () => Promise<unknown>, backoff: Backoff) {
    this.#read = read;
    this.#backoff = backoff;
  }

  /** Rejects with what waiting cannot mend, unless it is closed meanwhile. */
  async want(): Promise<void> {
    this.#isWanted = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let failures = 0; this.#isWanted && !this.#isClosed();) {
        this.#isWanted = false;
        try {
          await this.#read();
          failures = 0;
        } catch (error) {
          if (this.#isClosed()) return;
          if (!(error instanceof FeedClientError && error.isTemporary)) throw error;
          this.#isWanted = true;
          failures += 1;
          await pause(backoffMs(this.#backoff, failures), this.#end.signal);
        }
      }
    } finally {
      this.#isRunning = false;
    }
  }

  #isClosed(): boolean {
    return this.#end.signal.aborted;
  }

  close(): void {
    this.#end.abort();
  }
}
