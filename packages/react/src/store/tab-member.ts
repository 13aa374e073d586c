import { FeedClientError, type WatchState } from '@fanfare/client';
import type { Subscriber } from './connection.ts';
import type { TabMessage } from './tab-messages.ts';

/** Waits before a list that could not be read is read again, in ms. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/** A list of this tab that some tab watches for it. Handles what comes in order, one at a time. */
export class TabMember {
  readonly topic: string;
  readonly subscriber: Subscriber;
  readonly done: Promise<void>;
  readonly #onState: (state: WatchState, cause?: Error) => void;
  #tail: Promise<void> = Promise.resolve();
  /** Of the last message that came, handled or not. */
  #received: string | undefined;
  #isAnswered = false;
  #isOver = false;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(topic: string, subscriber: Subscriber, onState: (state: WatchState, cause?: Error) => void) {
    this.topic = topic;
    this.subscriber = subscriber;
    this.#onState = onState;
    this.#received = subscriber.cursor;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get received(): string | undefined {
    return this.#received;
  }

  /** Whether the leader has said what it has. */
  get isAnswered(): boolean {
    return this.#isAnswered || this.#isOver;
  }

  take(message: TabMessage): void {
    if (this.#isOver) return;
    if (message.kind === 'event') {
      this.#received = message.event.cursor;
      this.#enqueue(message.event.cursor, () => this.subscriber.onEvent(message.event));
    } else if (message.kind === 'resync') {
      this.#received = message.cursor;
      this.#enqueue(message.cursor, () => this.subscriber.onResync(message.reason));
    } else if (message.kind === 'have') {
      // What happened between the two cursors was sent to nobody here.
      if (message.cursor !== undefined && message.cursor !== this.#received) {
        this.#received = message.cursor;
        this.#enqueue(message.cursor, () => this.subscriber.onResync('joined'));
      }
      this.#isAnswered = true;
      this.#onState(message.state);
    } else if (message.kind === 'state')
      this.#onState(message.state, message.cause === undefined ? undefined : new Error(message.cause));
    else if (message.kind === 'error') {
      this.#isOver = true;
      this.#reject(new FeedClientError(message.code, message.message));
    }
  }

  end(): void {
    this.#isOver = true;
    this.#resolve();
  }

  #enqueue(cursor: string, handle: () => void | Promise<void>): void {
    this.#tail = this.#tail.then(async () => {
      for (let wait = FIRST_WAIT_MS; !this.#isOver; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
        try {
          await handle();
          this.subscriber.cursor = cursor;
          return;
        } catch {
          // The list shows why. The server may be back later; until then what follows waits.
          await new Promise((resolve) => setTimeout(resolve, wait));
        }
      }
    });
  }
}
