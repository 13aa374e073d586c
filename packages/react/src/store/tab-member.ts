import { FeedClientError, type WatchState } from '@fanfare/client';
import type { Subscriber, Watched } from './connection.ts';
import { insist } from './insist.ts';
import type { LeaderMessage } from './tab-messages.ts';

/** A list of this tab that some tab watches for it. Handles what comes in order, one at a time. */
export class TabMember {
  readonly topic: string;
  readonly watched: Watched;
  readonly subscriber: Subscriber;
  readonly done: Promise<void>;
  readonly #onState: (state: WatchState, cause?: Error) => void;
  /** Of the last message that came, handled or not. */
  received: string | undefined;
  isOver = false;
  #said = '';
  #tail: Promise<void> = Promise.resolve();
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(subscriber: Subscriber, onState: (state: WatchState, cause?: Error) => void) {
    const { what, of } = subscriber;
    this.watched = { what, of };
    this.topic = JSON.stringify(this.watched);
    this.subscriber = subscriber;
    this.#onState = onState;
    this.received = subscriber.cursor;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  take(message: LeaderMessage): void {
    if (this.isOver) return;
    if (message.kind === 'event')
      this.#enqueue(message.event.cursor, () => this.subscriber.onEvent(message.event));
    else if (message.kind === 'resync')
      this.#enqueue(message.cursor, () => this.subscriber.onResync(message.reason));
    else if (message.kind === 'have') {
      // What happened between the two cursors was sent to nobody here.
      if (message.cursor !== undefined && message.cursor !== this.received)
        this.#enqueue(message.cursor, () => this.subscriber.onResync('joined'));
      this.tell(message.state, message.cause);
    } else this.fail(new FeedClientError(message.code, message.message));
  }

  /** It is said again and again. */
  tell(state: WatchState, cause: string | undefined): void {
    const said = state + String(cause);
    if (said !== this.#said) this.#onState(state, cause === undefined ? undefined : new Error(cause));
    this.#said = said;
  }

  end(): void {
    this.isOver = true;
    this.#resolve();
  }

  fail(error: Error): void {
    this.isOver = true;
    this.#reject(error);
  }

  #enqueue(cursor: string, handle: () => void | Promise<void>): void {
    this.received = cursor;
    // The list shows why it cannot be read. The server may be back later; until then what follows waits.
    this.#tail = this.#tail.then(() =>
      insist(
        async () => {
          await handle();
          this.subscriber.cursor = cursor;
        },
        () => this.isOver,
      ),
    );
  }
}
