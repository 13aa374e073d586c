import type { ActionId, UserId } from '../domain/action.ts';
import type { DeliveryReason, FeedEntry, FeedPosition } from '../domain/newsfeed-item.ts';

/** One reader of a chunk: where the action stands in their feed and why it is there. */
export interface ReaderDelivery {
  readonly userId: UserId;
  readonly relevancy: Date;
  readonly reasons: readonly DeliveryReason[];
}

export interface DeliveryChunk {
  readonly actionId: ActionId;
  /** Each reader at most once. */
  readonly readers: readonly ReaderDelivery[];
  /**
   * True when no earlier attempt can have written this chunk. A hint that saves a look-up; a wrong hint costs time,
   * never correctness.
   */
  readonly isFirstAttempt: boolean;
}

/** What a delivery changed, for live events. Readers who already had the item as it is are in neither list. */
export interface DeliveryOutcome {
  readonly added: readonly UserId[];
  readonly raised: readonly UserId[];
}

export interface FeedPageQuery {
  readonly userId: UserId;
  /** Exclusive: entries strictly after this position. */
  readonly after?: FeedPosition;
  /** Relevancy range: `since` inclusive, `until` exclusive. */
  readonly since?: Date;
  readonly until?: Date;
  /** At least 1. */
  readonly limit: number;
}

/**
 * A way to store materialised feeds. Every model behaves alike; they differ in cost.
 *
 * - **What is stored** is a cache. A model may hold only the newest entries of a feed (a cap), never others, and
 *   never an entry that was not delivered.
 * - **Order**: a feed is ordered by relevancy, then action id, both descending, with action ids compared as hex.
 * - **Idempotence**: every method may be called again with the same arguments, by the same or another process, at
 *   the same time or later. An entry's relevancy only rises; its reasons are a set that only grows, until it is
 *   removed.
 * - **Atomicity**: per entry, not per chunk. A failed call may have done a part of its work; calling it again
 *   completes it.
 * - **Errors** of the database pass through unchanged. Unknown readers and actions are not errors.
 * - **Lifecycle**: the store borrows its connections. Who made them closes them.
 */
export interface FeedStore {
  /** The name under which the registry and `FEED_MODEL` know the model. */
  readonly model: string;
  /** Puts the action into the feeds of the chunk's readers, or raises it there. */
  deliver(chunk: DeliveryChunk): Promise<DeliveryOutcome>;
  /** Puts many actions into one reader's feed, or raises them there. Tells which of them are new. */
  fill(userId: UserId, entries: readonly FeedEntry[]): Promise<readonly ActionId[]>;
  /** The reader's entries in feed order, at most `limit`. Fewer means that there are no more. */
  page(query: FeedPageQuery): Promise<FeedEntry[]>;
  /** The reader's entries for the given actions, in no particular order; missing ones are left out. */
  find(userId: UserId, actionIds: readonly ActionId[]): Promise<FeedEntry[]>;
  /**
   * Readers who hold the action, at most `limit`; fewer means that there are no more. Whoever removes it from all feeds
   * tells them first and withdraws then, until nobody is left: cut off in between, nobody is forgotten.
   */
  holders(actionId: ActionId, limit: number): Promise<readonly UserId[]>;
  /** Removes the action from the feeds of these readers. */
  withdraw(actionId: ActionId, userIds: readonly UserId[]): Promise<void>;
  /** Removes single entries from one reader's feed. */
  remove(userId: UserId, actionIds: readonly ActionId[]): Promise<void>;
  /** Throws a reader's whole feed away. */
  drop(userId: UserId): Promise<void>;
}
