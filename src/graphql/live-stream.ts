import { createSourceEventStream, type ExecutionArgs, type ExecutionResult } from 'graphql';
import type { GraphQLContext } from './context.ts';

export interface LiveStreamOptions {
  /** Makes the result of one event, which is the root value. */
  readonly execute: (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;
  /** The context of one event: fresh loaders, or events would be answered with what an earlier one loaded. */
  readonly eventContext: (event: unknown) => GraphQLContext;
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
  options: LiveStreamOptions,
): Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult> {
  let source: AsyncIterable<unknown> | ExecutionResult;
  try {
    source = await createSourceEventStream(args);
  } catch (error) {
    options.onEnd();
    throw error;
  }
  if (Symbol.asyncIterator in source) return new LiveStream(source, args, options);
  options.onEnd();
  return source;
}

class LiveStream implements AsyncGenerator<ExecutionResult, void, void> {
  readonly #events: AsyncIterator<unknown>;
  readonly #args: ExecutionArgs;
  readonly #options: LiveStreamOptions;
  #isOver = false;

  constructor(source: AsyncIterable<unknown>, args: ExecutionArgs, options: LiveStreamOptions) {
    this.#events = source[Symbol.asyncIterator]();
    this.#args = args;
    this.#options = options;
  }

  async next(): Promise<IteratorResult<ExecutionResult, void>> {
    if (this.#isOver) return { done: true, value: undefined };
    try {
      const event = await this.#events.next();
      if (event.done !== true) return { done: false, value: await this.#present(event.value) };
    } catch (error) {
      // Who left does not need to hear that leaving broke something off.
      if (!this.#hasEnded()) {
        this.#end();
        return { done: false, value: this.#options.presentError(error) };
      }
    }
    this.#end();
    return { done: true, value: undefined };
  }

  async #present(event: unknown): Promise<ExecutionResult> {
    this.#options.onEvent(event);
    return this.#options.execute({
      ...this.#args,
      rootValue: event,
      contextValue: this.#options.eventContext(event),
    });
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
