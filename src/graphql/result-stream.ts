import { createSourceEventStream, type ExecutionArgs, type ExecutionResult } from 'graphql';
import { isReadyIterator, type ReadyIterator } from '../lib/prefetch.ts';

export interface ResultStreamOptions {
  /** Executes the result with a context of fresh loaders, so that it does not reuse data loaded for an earlier event. */
  readonly present: (event: unknown) => ExecutionResult | Promise<ExecutionResult>;
  /**
   * Starts the slow part of presenting these events. `true`: nothing is in progress for them; otherwise `wake` is called
   * later, once, when it is worth asking again.
   */
  readonly prepare?: ((events: readonly unknown[], wake: () => void) => boolean) | undefined;
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
    try {
      while (!this.#hasEnded()) {
        const shown = (await this.#showReady()) ?? (await this.#showNext());
        if (shown !== null && !this.#hasEnded()) return { done: false, value: shown };
      }
    } catch (error) {
      // Ignores errors that the client's own disconnect has caused.
      if (!this.#hasEnded()) {
        this.#end();
        return { done: false, value: this.#options.presentError(error) };
      }
    }
    this.#end();
    return { done: true, value: undefined };
  }

  /** `null`: it has been sent, or there is none left. */
  async #showNext(): Promise<ExecutionResult | null> {
    if (this.#hasEnded()) return null;
    const next = await this.#events.next();
    if (next.done === true) this.#end();
    return next.done === true || this.#hasEnded() ? null : this.#show(next.value);
  }

  /**
   * Sends ready events, and events that become ready later, without awaiting each: so the simultaneous events of thousands
   * of streams are decided, rendered and sent in one pass. Resolves when something else must be awaited: with a result for
   * the reader of the stream, or `null`.
   */
  #showReady(): Promise<ExecutionResult | null> | null {
    const ready = this.#ready;
    if (ready === null) return null;
    return new Promise((resolve, reject) => {
      const goOn = (): void => {
        try {
          const stop = this.#sendReady(ready, goOn);
          if (stop !== 'later') resolve(stop);
        } catch (error) {
          reject(toError(error));
        }
      };
      goOn();
    });
  }

  #sendReady(
    ready: ReadyIterator<unknown>,
    goOn: () => void,
  ): ExecutionResult | Promise<ExecutionResult | null> | null | 'later' {
    if (this.#hasEnded()) return null;
    if (ready.hasReady && this.#options.prepare?.(ready.ready, goOn) === false) return 'later';
    for (let event = ready.takeReady(); event !== null; event = ready.takeReady()) {
      const shown = this.#show(event);
      if (shown !== null || this.#hasEnded()) return shown;
    }
    return ready.whenReady(goOn) ? 'later' : null;
  }

  #show(event: unknown): ExecutionResult | Promise<ExecutionResult | null> | null {
    this.#options.onEvent(event);
    const presented = this.#options.present(event);
    return presented instanceof Promise
      ? presented.then((result) => this.#pass(result))
      : this.#pass(presented);
  }

  /** `null`: it has been sent. */
  #pass(result: ExecutionResult): ExecutionResult | Promise<null> | null {
    if (this.#isOver) return null;
    const sending = this.#options.send?.(result, this.#ready?.hasReady === true) ?? null;
    if (sending === null) return result;
    return sending === 'sent' ? null : sending.then(() => null);
  }

  /** Checked after everything that may end the stream. */
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
    this.#events.return?.().catch((error: unknown) => this.#options.presentError(error));
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

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
