import type { EndSignal } from '../lib/ending.ts';
import type { ActionId, UserId } from '../domain/action.ts';
import { FanfareError } from '../domain/errors.ts';
import type { DeliveryReason } from '../domain/newsfeed-item.ts';

/** Changes of a reader's list that cannot be reported item by item: the feed must be queried again. */
export const LIST_CHANGES = ['mutes', 'marks', 'membership'] as const;
export type ListChange = (typeof LIST_CHANGES)[number];

/** Why a watcher must query the feed again; README.md says when each is sent. */
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

/** The reader changed their list in a way that cannot be reported item by item. */
export interface ListEvent {
  readonly kind: 'list';
  readonly change: ListChange;
}

/** A change of one reader's feed. Contains references only: visibility is decided when it is sent. */
export type LiveEvent = EntryEvent | ListEvent;

export interface LiveAppend {
  readonly userId: UserId;
  readonly event: LiveEvent;
}

/** What a watcher receives. Every message has the cursor from which to resume after it. */
export type LiveMessage =
  | { readonly kind: 'ready'; readonly cursor: string }
  | { readonly kind: 'event'; readonly cursor: string; readonly event: LiveEvent }
  | { readonly kind: 'resync'; readonly cursor: string; readonly reason: ResyncReason };

export interface LiveMessages extends AsyncIterableIterator<LiveMessage, undefined> {
  /** Takes unread events, oldest first, at most `limit`; stops at a message that is not an event. */
  takeEvents(limit: number): Extract<LiveMessage, { kind: 'event' }>[];
  /** Whether the next message is an event that can be taken now. */
  readonly hasEvents: boolean;
  /**
   * Calls `wake` once when a message arrives or the stream ends. `false`: there is a message, or the stream has ended. Must
   * not be called while next() is pending.
   */
  whenSome(wake: () => void): boolean;
  /** Number of messages that may remove something from the list. A decision made before it increased may be outdated. */
  readonly withdrawals: number;
}

export interface WatchOptions {
  readonly userId: UserId;
  /** Cursor of an earlier message; absent: from now on. An unusable one is answered by `resync`. */
  readonly after?: string;
  /** Ends the stream without an error. */
  readonly signal: EndSignal;
}

/**
 * The transport of the log did not answer or refused, or the log is closed. A delivering caller logs it and continues: the
 * log itself notifies the affected watchers as soon as it can.
 */
export class LiveLogUnavailable extends FanfareError {
  constructor(message: string, cause?: unknown) {
    super('UNAVAILABLE', message, { cause });
  }
}

/** Logs of all watched readers. README.md describes the protocol; both adapters pass one conformance suite. */
export interface LiveLog extends AsyncDisposable {
  /**
   * Readers among these whose log is kept: somebody is watching, or was within the recovery window. One round trip for any
   * number of readers. Call after the feed was written, never before.
   * @throws LiveLogUnavailable; readers who may have missed something resync later.
   */
  watched(userIds: readonly UserId[]): Promise<UserId[]>;
  /**
   * All readers whose log is kept, in unordered batches, possibly with duplicates. May omit readers who start to be watched
   * meanwhile. For events to many readers of whom few are watching.
   * @throws LiveLogUnavailable; everybody resyncs later.
   */
  allWatched(): AsyncIterable<readonly UserId[]>;
  /**
   * Appends events to the logs of watched readers and wakes their watchers. Events of one reader keep their order. Appending
   * for an unwatched reader is allowed and cheap.
   * @throws LiveLogUnavailable when some or all of the entries may not have been appended; their readers resync later.
   */
  append(entries: readonly LiveAppend[]): Promise<void>;
  /**
   * Watches a reader's log: `ready` first, then messages missed since `after`, then live events, each once and in order;
   * `resync` if completeness cannot be guaranteed. Resolves once nothing later can be missed. The result can be iterated
   * once; it holds its resources until the signal fires or its iterator returns, iterated or not.
   * @throws LiveLogUnavailable
   */
  watch(options: WatchOptions): Promise<LiveMessages>;
  /**
   * Keeps a reader's log from now on as long as if a watcher had just left, and returns the cursor of its end: `watch` after
   * it delivers everything appended from here on, or `resync`.
   * @throws LiveLogUnavailable
   */
  position(userId: UserId): Promise<string>;
  /**
   * Drops a reader's log with all stored data. If the reader is still watching, the watcher receives `resync`, and a new log
   * is kept from then on.
   * @throws LiveLogUnavailable
   */
  forget(userId: UserId): Promise<void>;
}
