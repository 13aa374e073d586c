import type { ExecutionResult } from 'graphql';
import { isWritten } from './live-rendering.ts';

type Results = AsyncGenerator<ExecutionResult, void, void>;
type Next = IteratorResult<ExecutionResult, void>;

/**
 * The results of a subscription on a socket, for the protocol to read. What has been written already is sent from here as
 * the protocol would send it, and never handed on: the protocol would have to write it once more.
 */
export class WrittenFrames implements Results {
  readonly #results: Results;
  readonly #send: (frame: string) => Promise<void>;
  readonly #head: string;

  /**
   * @param id of the subscription.
   * @param send resolves when the frame has left.
   */
  constructor(results: Results, id: string, send: (frame: string) => Promise<void>) {
    this.#results = results;
    this.#send = send;
    this.#head = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
  }

  async next(): Promise<Next> {
    for (;;) {
      const next = await this.#results.next();
      if (next.done === true || !isWritten(next.value)) return next;
      await this.#send(`${this.#head}${next.value.text}}`);
    }
  }

  return(): Promise<Next> {
    return this.#results.return();
  }

  throw(error: unknown): Promise<Next> {
    return this.#results.throw(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#results.return();
  }
}
