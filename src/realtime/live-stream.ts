import type { EndSignal } from '../lib/ending.ts';
import type { LiveMessage, LiveMessages } from './live-log.ts';

type Result = IteratorResult<LiveMessage, undefined>;

const DONE: Result = { done: true, value: undefined };

export interface StreamOwner {
  /** Called once, when the stream has ended. */
  streamEnded(): void;
}

/**
 * Bounded buffer of one watcher's messages between log and consumer: above the limit, unread messages are replaced by one
 * `resync`. Ends on its signal, on return() or on end(); unread messages are then dropped, and the owner is notified. With
 * an already fired signal it starts ended and calls nothing.
 */
export class LiveStream implements LiveMessages {
  readonly #limit: number;
  readonly #replayLimit: number;
  readonly #signal: EndSignal;
  readonly #owner: StreamOwner;
  readonly #onAbort = (): void => {
    this.end();
  };
  #unread: { readonly message: LiveMessage; readonly isReplay: boolean }[] = [];
  #replayed = 0;
  #withdrawals = 0;
  #waiting: ((result: Result) => void)[] = [];
  #wake: (() => void) | null = null;
  #ended = false;

  constructor(options: {
    readonly limit: number;
    readonly replayLimit: number;
    readonly signal: EndSignal;
    readonly owner: StreamOwner;
  }) {
    this.#limit = options.limit;
    this.#replayLimit = options.replayLimit;
    this.#signal = options.signal;
    this.#owner = options.owner;
    if (this.#signal.aborted) this.#ended = true;
    else this.#signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  get ended(): boolean {
    return this.#ended;
  }

  get size(): number {
    return this.#unread.length;
  }

  get withdrawals(): number {
    return this.#withdrawals;
  }

  push(message: LiveMessage): void {
    this.#count(message);
    if (this.#hand(message)) return;
    if (this.#unread.length - this.#replayed >= this.#limit) this.#overflow(message.cursor);
    else this.#unread.push({ message, isReplay: false });
    this.#wakeUp();
  }

  /** Adds messages kept by a log. Limited separately, so that a full log can be replayed before live messages. */
  replay(messages: readonly LiveMessage[]): void {
    for (const message of messages) {
      this.#count(message);
      if (this.#hand(message)) continue;
      if (this.#replayed >= this.#replayLimit) {
        this.#overflow((messages.at(-1) ?? message).cursor);
        return;
      }
      this.#unread.push({ message, isReplay: true });
      this.#replayed += 1;
      this.#wakeUp();
    }
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#unread = [];
    this.#replayed = 0;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(DONE);
    this.#wakeUp();
    this.#owner.streamEnded();
  }

  next(): Promise<Result> {
    const first = this.#unread[0];
    if (first !== undefined) {
      this.#take(1);
      return Promise.resolve({ done: false, value: first.message });
    }
    if (this.#ended) return Promise.resolve(DONE);
    return new Promise((resolve) => {
      // Exactly as large as needed: nearly always one, for as long as nothing happens.
      this.#waiting = [...this.#waiting, resolve];
    });
  }

  get hasEvents(): boolean {
    return this.#unread[0]?.message.kind === 'event';
  }

  whenSome(wake: () => void): boolean {
    if (this.#unread.length > 0 || this.#ended) return false;
    this.#wake = wake;
    return true;
  }

  takeEvents(limit: number): Extract<LiveMessage, { kind: 'event' }>[] {
    const events: Extract<LiveMessage, { kind: 'event' }>[] = [];
    for (const { message } of this.#unread) {
      if (message.kind !== 'event' || events.length === limit) break;
      events.push(message);
    }
    this.#take(events.length);
    return events;
  }

  return(): Promise<Result> {
    this.end();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(count: number): void {
    if (count === 0) return;
    const taken = this.#unread.splice(0, count);
    for (const { isReplay } of taken) if (isReplay) this.#replayed -= 1;
    // An array that was ever written to keeps its capacity.
    if (this.#unread.length === 0) this.#unread = [];
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  #count(message: LiveMessage): void {
    const isHarmless =
      message.kind === 'event' && (message.event.kind === 'added' || message.event.kind === 'updated');
    if (!isHarmless) this.#withdrawals += 1;
  }

  /** `true` when the message need not be stored: a reader was waiting for it, or nobody ever will. */
  #hand(message: LiveMessage): boolean {
    if (this.#ended) return true;
    const reader = this.#waiting.shift();
    if (reader === undefined) return false;
    reader({ done: false, value: message });
    return true;
  }

  #overflow(cursor: string): void {
    const ready = this.#unread.find(({ message }) => message.kind === 'ready');
    this.#unread = ready === undefined ? [] : [{ ...ready, isReplay: false }];
    this.#replayed = 0;
    this.#withdrawals += 1;
    this.#unread.push({ message: { kind: 'resync', cursor, reason: 'buffer-overflow' }, isReplay: false });
  }
}
