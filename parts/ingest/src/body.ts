import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { apiError } from '../../../src/graphql/errors.ts';
import { callAfter } from '../../../src/http/limits/deadline.ts';

type Chunk = IteratorResult<Buffer, undefined>;

interface Waiting {
  resolve(chunk: Chunk): void;
  reject(error: Error): void;
}

/**
 * The chunks of a body, no faster than they are taken. Unlike the stream's own iterator it can be ended while it waits, and leaves
 * the connection open, so that the client can be told why.
 */
export class BodyChunks implements AsyncIterableIterator<Buffer>, Disposable {
  readonly #req: IncomingMessage;
  readonly #withinMs: number;
  readonly #here: Buffer[] = [];
  #end: Error | 'whole' | null = null;
  #waiting: (Waiting & Disposable) | null = null;

  /** @param withinMs how long nothing may arrive */
  constructor(req: IncomingMessage, withinMs: number) {
    this.#req = req;
    this.#withinMs = withinMs;
    req.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onCut).on('close', this.#onCut);
    req.pause();
    if (req.destroyed) this.#onCut();
  }

  next(): Promise<Chunk> {
    const value = this.#here.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#end === 'whole') return Promise.resolve({ done: true, value: undefined });
    if (this.#end !== null) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      const late = callAfter(this.#withinMs, () =>
        this.end(apiError('BAD_USER_INPUT', `Nothing has arrived for ${String(this.#withinMs / 1_000)} s`)),
      );
      this.#waiting = { resolve, reject, [Symbol.dispose]: () => late[Symbol.dispose]() };
      this.#req.resume();
    });
  }

  /** What has not been taken is left, and what still arrives is dropped. */
  end(error: Error | 'whole'): void {
    if (this.#end !== null) return;
    this.#end = error;
    if (error !== 'whole') this.#here.length = 0;
    const req = this.#req;
    req.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onCut).off('close', this.#onCut);
    // An error without a listener would end the process.
    req.on('error', () => undefined).resume();
    using waiting = this.#take();
    if (error === 'whole') waiting?.resolve({ done: true, value: undefined });
    else waiting?.reject(error);
  }

  return(): Promise<Chunk> {
    this[Symbol.dispose]();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.dispose](): void {
    this.end(new Error('Nobody reads on'));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#req.pause();
    using waiting = this.#take();
    if (waiting === null) this.#here.push(chunk);
    else waiting.resolve({ done: false, value: chunk });
  };
  readonly #onEnd = (): void => this.end('whole');
  readonly #onCut = (): void => this.end(new Error('The body is incomplete'));

  #take(): (Waiting & Disposable) | null {
    const waiting = this.#waiting;
    this.#waiting = null;
    return waiting;
  }
}

/** What Node has and does not show: the parser of a connection, which has a place in the list of those that are timed. */
interface Timed {
  readonly parser?: { remove?(): void } | null;
}

/**
 * Node ends a connection on which a request takes longer to arrive than its limit. This one may take hours, as long as something
 * arrives: before the limit, its connection is taken from those that Node times, and it is closed after the answer.
 */
export function inItsOwnTime(req: IncomingMessage, res: ServerResponse, afterMs: number): Disposable {
  return callAfter(afterMs, () => {
    const socket = req.socket as Socket & Timed;
    if (req.complete || socket.destroyed) return;
    socket.parser?.remove?.();
    res.once('finish', () => socket.destroySoon());
  });
}
