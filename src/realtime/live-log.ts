import type { EndSignal } from '../lib/ending.ts';
import type { ActionId, UserId } from '../domain/action.ts';
import { FanfareError } from '../domain/errors.ts';
import type { DeliveryReason } from '../domain/newsfeed-item.ts';

/** Changes of a reader's list that cannot be told item by item: the feed has to be queried again. */
export const LIST_CHANGES = ['mutes', 'marks', 'membership'] as const;
export type ListChange = (typeof LIST_CHANGES)[number];

/** Why a watcher has to query the feed again; README.md says when each is sent. */
export const RESYNC_REASONS = [
  'invalid-cursor',
  'log-lost',
  'log-interrupted',
  'window-passed',
  'buffer-overflow',
  ...LIST_CHANGES,
] as const;
export type ResyncReason = (typeof RESYNC_REASONS)[number];

export interface EntryEvent {
  readonly kind: 'added' | 'updated' | 'removed';
  readonly actionId: ActionId;
  readonly relevancy: Date;
  readonly reasons: readonly DeliveryReason[];
}

/** The reader changed what their list shows, in a way that cannot be told item by item. */
export interface ListEvent {
  readonly kind: 'list';
  readonly change: ListChange;
}

/** A change of one reader's feed. Holds references only: what the reader may see is decided when it is sent. */
export type LiveEvent = EntryEvent | ListEvent;

export interface LiveAppend {
  readonly userId: UserId;
  readonly event: LiveEvent;
}

/** What a watcher receives. Every message carries the cursor from which to resume after it. */
export type LiveMessage =
  | { readonly kind: 'ready'; readonly cursor: string }
  | { readonly kind: 'event'; readonly cursor: string; readonly event: LiveEvent }
  | { readonly kind: 'resync'; readonly cursor: string; readonly reason: ResyncReason };

export interface LiveMessages extends AsyncIterableIterator<LiveMessage, undefined> {
  /** Takes the events that wait to be read, oldest first, at most `limit`; stops at a message that is no event. */
  takeEvents(limit: number): Extract<LiveMessage, { kind: 'event' }>[];
  /** Whether the next message is an event that can be taken now. */
  readonly hasEvents: boolean;
  /**
   * Calls `wake` once when a message arrives or the stream ends. False: one of them is there already. Not while next() is in
   * progress.
   */
  whenSome(wake: () => void): boolean;
  /** Messages so far that may take something from the list. What was decided before it rose may have to be decided again. */
  readonly withdrawals: number;
}

export interface WatchOptions {
  readonly userId: UserId;
  /** A cursor of an earlier message; absent: from now on. One that cannot be used is answered by `resync`. */
  readonly after?: string;
  /** Ends the stream without an error. */
  readonly signal: EndSignal;
}

/**
 * The transport behind the log did not answer, refused, or the log is closed. A caller that delivers logs it and goes
 * on: the log itself tells the watchers concerned as soon as it can.
 */
export class LiveLogUnavailable extends FanfareError {
  constructor(message: string, cause?: unknown) {
    super('UNAVAILABLE', message, { cause });
  }
}

/** The log of every watched reader. README.md has the protocol; both adapters pass one conformance suite. */
export interface LiveLog extends AsyncDisposable {
  /**
   * Those of the readers whose log is being kept: somebody watches, or did within the recovery window. One round trip
   * for any number of readers. Ask after the feed was written, never before.
   * @throws LiveLogUnavailable; readers who may have missed something resync later.
   */
  watched(userIds: readonly UserId[]): Promise<UserId[]>;
  /**
   * Everybody whose log is being kept, in parts, in no order, some of them perhaps twice. Who begins to be watched
   * meanwhile may be left out. For what goes to many readers of whom few watch.
   * @throws LiveLogUnavailable; everybody resyncs later.
   */
  allWatched(): AsyncIterable<readonly UserId[]>;
  /**
   * Appends events to the logs of watched readers and wakes their watchers. Events of one reader keep their order.
   * Appending for a reader nobody watches is allowed and cheap.
   * @throws LiveLogUnavailable when some or all of the entries may not have been appended; their readers resync
   * later.
   */
  append(entries: readonly LiveAppend[]): Promise<void>;
  /**
   * Watches a reader's log: `ready` first, then what was missed since `after`, then live events, each once and in
   * order; `resync` where completeness cannot be vouched for. Resolves once nothing later can be missed. The result can
   * be iterated once; it holds its resources until the signal fires or its iterator returns, iterated or not.
   * @throws LiveLogUnavailable
   */
  watch(options: WatchOptions): Promise<LiveMessages>;
  /**
   * Keeps a reader's log from now on for as long as if a watcher had just left, and gives the cursor of its end: `watch`
   * after it brings everything that is appended from here on, or says `resync`.
   * @throws LiveLogUnavailable
   */
  position(userId: UserId): Promise<string>;
  /**
   * Drops a reader's log with everything that is stored for them. A reader who still watches receives `resync`, and a new log
   * is kept for them from then on.
   * @throws LiveLogUnavailable
   */
  forget(userId: UserId): Promise<void>;
}
