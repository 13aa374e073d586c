import { createSourceEventStream, type ExecutionArgs, type ExecutionResult } from 'graphql';
import { isReadyIterator, type ReadyIterator } from '../lib/ready-iterator.ts';

export interface ResultStreamOptions {
  /** Where the result is executed its context has fresh loaders, or it would be answered with what an earlier one loaded. */
  readonly present: (event: unknown) => ExecutionResult | Promise<ExecutionResult>;
  /**
   * Takes a result on its own way to the client, past who reads the stream, and says when the next may follow. Null: it does
   * not take this one.
   * @param isFollowed the next one is ready: both may leave together.
   */
  readonly send?:
    | ((result: ExecutionResult, isFollowed: boolean) => Promise<void> | 'sent' | null)
    | undefined;
  /** Stops the source: called once, when nobody reads the stream any more or it has ended on its own. */
  readonly onEnd: () => void;
  /** Told of every event that is about to be sent. */
  readonly onEvent: (event: unknown) => void;
  /** Makes the last result of a stream whose source failed, and reports the failure. */
  readonly presentError: (error: unknown) => ExecutionResult;
}

/**
 * Runs a subscription: an error result when it cannot start, otherwise its results one by one as they are asked for.
 * Unlike an async generator its `return` does not wait for the event under way: it ends the source at once.
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
  /** The same, where events may be had of it without waiting. */
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

  /** Asked again after every wait. */
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
    // The source is a generator that may be waiting; it hears of the end through its signal.
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
