import { createSourceEventStream, type ExecutionArgs, type ExecutionResult } from 'graphql';
import { isReadyIterator, type ReadyIterator } from '../lib/ready-iterator.ts';

export interface ResultStreamOptions {
  /** Executes the result with a context of fresh loaders, so that it does not reuse data loaded for an earlier event. */
  readonly present: (event: unknown) => ExecutionResult | Promise<ExecutionResult>;
  /**
   * Sends a result directly to the client, bypassing the reader of the stream, and says when the next may follow. `null`:
   * declined.
   * @param isFollowed another result is ready: both may be sent together.
   */
  readonly send?:
    | ((result: ExecutionResult, isFollowed: boolean) => Promise<void> | 'sent' | null)
    | undefined;
  /** Stops the source: called once, when the reader has left or the stream has ended on its own. */
  readonly onEnd: () => void;
  /** Called for every event about to be sent. */
  readonly onEvent: (event: unknown) => void;
  /** Makes the last result after the source failed, and reports the failure. */
  readonly presentError: (error: unknown) => ExecutionResult;
}

/**
 * Runs a subscription: an error result if it cannot start, otherwise results on demand. Unlike that of an async generator,
 * `return` does not wait for the current event: it ends the source at once.
 */
export async function runSubscription(
  args: ExecutionArgs,
  options: ResultStreamOptions,
): Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult> {
  let source: AsyncIterable<unknown> | ExecutionResult;
  try {
    source = await createSourceEventStream(args);
  } catch (error) {
    options.onEnd();
    throw error;
  }
  if (Symbol.asyncIterator in source) return new ResultStream(source, options);
  options.onEnd();
  return source;
}

class ResultStream implements AsyncGenerator<ExecutionResult, void, void> {
  readonly #events: AsyncIterator<unknown>;
  /** The source, if it can return events synchronously. */
  readonly #ready: ReadyIterator<unknown> | null;
  readonly #options: ResultStreamOptions;
  #isOver = false;

  constructor(source: AsyncIterable<unknown>, options: ResultStreamOptions) {
    this.#events = source[Symbol.asyncIterator]();
    this.#ready = isReadyIterator(this.#events) ? this.#events : null;
    this.#options = options;
  }

  async next(): Promise<IteratorResult<ExecutionResult, void>> {
    const { onEvent, present, send, presentError } = this.#options;
    try {
      while (!this.#hasEnded()) {
        let event: unknown = this.#ready?.takeReady() ?? null;
        if (event === null) {
          const next = await this.#events.next();
          if (next.done === true || this.#hasEnded()) break;
          event = next.value;
        }
        onEvent(event);
        const presented = present(event);
        const result = presented instanceof Promise ? await presented : presented;
        if (this.#hasEnded()) break;
        const sending = send?.(result, this.#ready?.hasReady === true) ?? null;
        if (sending === null) return { done: false, value: result };
        if (sending !== 'sent') await sending;
      }
    } catch (error) {
      // Ignores errors that the client's own disconnect has caused.
      if (!this.#hasEnded()) {
        this.#end();
        return { done: false, value: presentError(error) };
      }
    }
    this.#end();
    return { done: true, value: undefined };
  }

  /** Checked after every await. */
  #hasEnded(): boolean {
    return this.#isOver;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onEnd();
  }

  async return(): Promise<IteratorResult<ExecutionResult, void>> {
    this.#end();
    // The source may be a waiting generator, which is ended by its signal.
    this.#events.return?.().catch((error: unknown) => {
      this.#options.presentError(error);
    });
    return Promise.resolve({ done: true, value: undefined });
  }

  async throw(error: unknown): Promise<IteratorResult<ExecutionResult, void>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
