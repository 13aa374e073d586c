import type {
  ActionEvent,
  FeedClient,
  FeedEvent,
  NotificationEvent,
  SliceEvent,
  Watching,
  WatchState,
} from '@fanfare/client';
import type { FanfareItem } from '../item.ts';
import { asError } from './as-error.ts';
import { Signal } from './signal.ts';

export type ConnectionState = WatchState | 'idle' | 'ended';

export interface ConnectionSnapshot {
  /** `idle`: nothing is watched. `ended`: waiting does not mend it, such as a token that was refused. */
  readonly state: ConnectionState;
  readonly cause: Error | null;
  /** Whether this tab holds the connection, for itself or for all. */
  readonly isLeader: boolean;
}

export type LiveEvent = FeedEvent<FanfareItem> | NotificationEvent | SliceEvent | ActionEvent;

/** What is watched, by the call of the client. */
export interface Watched {
  readonly what: 'watch' | 'watchNotifications' | 'watchSlice' | 'watchAction';
  /** What the call is given: a filter, and which list. Equal ones are watched once. */
  readonly of: object;
}

export interface Subscriber extends Watched {
  /** Where it has come to; it moves on with each event. */
  cursor: string | undefined;
  /** Gets the events of what it watches, and no others. */
  onEvent(event: LiveEvent): void | Promise<void>;
  readonly onResync: (reason: string) => Promise<void>;
  /** Called when it has become live: what failed meanwhile may succeed. */
  readonly onLive?: () => void;
}

/** How a reader's lists are watched: from this tab, or from the one that does it for all. */
export interface LiveSource {
  /** Watches until it is ended. @returns what ends it */
  watch(subscriber: Subscriber, onState: (state: WatchState, cause?: Error) => void): WatchHandle;
  /** Tells when this tab begins and ends to be the one that does it for all; absent: it always is. */
  readonly onLeader?: (listener: (isLeader: boolean) => void) => void;
}

export interface WatchHandle {
  /** Rejects with what waiting does not mend. */
  readonly done: Promise<void>;
  readonly end: () => void;
}

export type WatchingClient = Pick<FeedClient<FanfareItem>, Watched['what']>;

/** One watch of the client, with the counts. */
export function watchFor(
  client: WatchingClient,
  { what, of }: Watched,
  after: string | undefined,
  options: Omit<Watching<LiveEvent, never>, 'after' | 'filter' | 'unread'>,
): Promise<void> {
  // Each gets the events of its own kind, and what it asks for.
  const watch = client[what] as (all: Watching<LiveEvent, object>) => Promise<void>;
  return watch.call(client, {
    ...of,
    ...(after && { after }),
    unread: true,
    ...options,
  });
}

/** Watches over the client's own socket. */
export function ownSource(client: WatchingClient): LiveSource {
  return {
    watch(subscriber, onState) {
      const abort = new AbortController();
      const done = watchFor(client, subscriber, subscriber.cursor, {
        signal: abort.signal,
        onState,
        async onEvent(event) {
          await subscriber.onEvent(event);
          subscriber.cursor = event.cursor;
        },
        async onResync(reason, next) {
          await subscriber.onResync(reason);
          subscriber.cursor = next;
        },
      });
      return {
        done,
        end: () => {
          abort.abort();
        },
      };
    },
  };
}

type State = Omit<ConnectionSnapshot, 'isLeader'>;
const IDLE: State = { state: 'idle', cause: null };
/** The worst state of any list is that of the connection. */
const WORST_FIRST: readonly ConnectionState[] = ['ended', 'waiting', 'connecting', 'live', 'idle'];

interface Running {
  handle: WatchHandle | null;
  /** Raised by every start and stop: what an earlier watch still says does not count. */
  round: number;
  snapshot: State;
}

/** All that is watched, and whether it is paused. */
export class Connection extends Signal {
  readonly #source: LiveSource;
  readonly #onError: ((error: Error) => void) | undefined;
  readonly #running = new Map<Subscriber, Running>();
  #isPaused = false;
  #isLeader: boolean;
  #snapshot: ConnectionSnapshot;

  constructor(source: LiveSource, onError?: (error: Error) => void) {
    super();
    this.#source = source;
    this.#onError = onError;
    this.#isLeader = source.onLeader === undefined;
    this.#snapshot = { ...IDLE, isLeader: this.#isLeader };
    source.onLeader?.((isLeader) => {
      this.#isLeader = isLeader;
      this.#update();
    });
  }

  readonly getSnapshot = (): ConnectionSnapshot => this.#snapshot;

  /** Watches for a list until what it returns is called. */
  open(subscriber: Subscriber): () => void {
    this.#running.set(subscriber, { handle: null, round: 0, snapshot: IDLE });
    if (!this.#isPaused) this.#start(subscriber);
    return () => {
      this.#stop(subscriber);
      this.#running.delete(subscriber);
      this.#update();
    };
  }

  /** Lets go of the connection; `resume` goes on from where each list is. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    for (const subscriber of this.#running.keys()) this.#stop(subscriber);
    this.#update();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    for (const subscriber of this.#running.keys()) this.#start(subscriber);
  }

  /** Tries at once what waits for its next attempt, or has ended. */
  readonly retryNow = (): void => {
    if (this.#isPaused) return;
    for (const [subscriber, { snapshot }] of this.#running) {
      if (snapshot.state === 'live') continue;
      this.#stop(subscriber);
      this.#start(subscriber);
    }
  };

  #start(subscriber: Subscriber): void {
    const entry = this.#running.get(subscriber);
    if (entry === undefined) return;
    const round = (entry.round += 1);
    this.#set(subscriber, { state: 'connecting', cause: null });
    entry.handle = this.#source.watch(subscriber, (state, cause) => {
      if (entry.round === round) this.#set(subscriber, { state, cause: cause ?? null });
    });
    entry.handle.done.catch((reason: unknown) => {
      if (entry.round !== round) return;
      const error = asError(reason);
      this.#set(subscriber, { state: 'ended', cause: error });
      this.#onError?.(error);
    });
  }

  #stop(subscriber: Subscriber): void {
    const entry = this.#running.get(subscriber);
    if (entry === undefined) return;
    entry.round += 1;
    entry.snapshot = IDLE;
    entry.handle?.end();
    entry.handle = null;
  }

  #set(subscriber: Subscriber, snapshot: State): void {
    const entry = this.#running.get(subscriber);
    if (entry === undefined) return;
    const last = entry.snapshot.state;
    entry.snapshot = snapshot;
    this.#update();
    if (snapshot.state === 'live' && last !== 'live') subscriber.onLive?.();
  }

  #update(): void {
    const [worst = IDLE] = [...this.#running.values()]
      .map(({ snapshot }) => snapshot)
      .sort((a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state));
    const next = { ...worst, isLeader: this.#isLeader };
    const last = this.#snapshot;
    if (next.state === last.state && next.cause === last.cause && next.isLeader === last.isLeader) return;
    this.#snapshot = next;
    this.emit();
  }
}
