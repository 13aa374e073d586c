import type { ActionId, RefId, UserId } from '../domain/action.ts';
import type { Member } from '../domain/member.ts';
import type { Follow } from '../domain/viewer.ts';
import type { ReaderMarks } from '../storage/readers/feeds.ts';
import type { DeliveryReason, FeedEntry, FeedPosition } from '../domain/newsfeed-item.ts';
import type { PulledAhead, PullGuess } from '../storage/follows/pull-guesses.ts';

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
  /** No earlier attempt can have written this chunk. A hint: a wrong one costs time, never correctness. */
  readonly isFirstAttempt: boolean;
}

/**
 * What a delivery changed, for live events. Readers who already had the item as it is are in neither list. Where a model
 * does not hold an item – it was let go, or lies at the floor or below – it cannot know of it and tells it as added.
 */
export interface DeliveryOutcome {
  readonly added: readonly UserId[];
  readonly raised: readonly UserId[];
}

export interface FillOptions {
  /**
   * With these entries the feed has been given everything above this position; null: everything. The floor is set
   * to this position, or to the highest evicted entry. A model that loses what it holds – all of it, with its floor above
   * all – vouches for a feed again from then on, provided that the feed was opened and has not been lost since.
   */
  readonly isCompleteDownTo?: FeedPosition | null;
}

/** A piece of one feed. */
export interface FeedQuery {
  /** Exclusive: entries strictly after this position. */
  readonly after?: FeedPosition;
  /** Relevancy range: `since` inclusive, `until` exclusive. */
  readonly since?: Date;
  readonly until?: Date;
  /** At least 1. */
  readonly limit: number;
}

export interface FeedPageQuery extends FeedQuery {
  readonly userId: UserId;
}

export interface HoldersQuery {
  /** Exclusive: readers after this one. Default: from the first. */
  readonly after?: UserId | null;
  /** At least 1. */
  readonly limit: number;
}

/** A piece of what a model holds of one feed. */
export interface StoredPage {
  /** In feed order, at most `limit`. Fewer means that the model holds no more in the range. */
  readonly entries: readonly FeedEntry[];
  /**
   * How far down the model vouches for being complete: it holds everything above this position that was ever given to
   * it and not removed, and nothing is promised at it and below. Null: all the way down. It sinks only by a rebuild.
   */
  readonly floor: FeedPosition | null;
  /** The model has lost what it held, or never was given the feed: a rebuild brings it back. The floor is above all. */
  readonly isLost?: true;
}

/** What was read of a reader together with a page of their feed, before it. */
export interface KnownReader {
  readonly marks: ReaderMarks;
  /** Null: the host application has not described them. */
  readonly member: Member | null;
  /** Before it was read. */
  readonly asOf: Date;
  /** What the directory was stamped with; see `storage/directory/directory-stamps.ts`. */
  readonly directoryStamp: number;
  /** Their follows of the refs that were named as pulled; absent: they were not asked for. */
  readonly pulledFollows?: readonly Follow[];
}

/** A page whose entries say which revision their actions had. */
export interface OpenedFeed extends StoredPage {
  readonly reader: KnownReader;
  /** What was guessed to be needed of pulled refs, read after the entries; absent: it was not read, or not as a whole. */
  readonly pulled?: PulledAhead;
}

/** What is asked of pulled refs together with a page. */
export interface PulledQuestion {
  /** The refs of which some actions may not have been pushed. */
  readonly refIds: ReadonlySet<RefId>;
  /** What the page will need of them; null: nothing is known of that. */
  readonly guess: PullGuess | null;
}

/**
 * A way to store materialised feeds. Every model behaves alike; they differ in cost.
 *
 * - **What is stored** is a cache. A model may hold only the newest entries of a feed, never others, and never an entry
 *   that was not delivered. What lies below is read from the actions themselves, by `feed-reader.ts`.
 * - **Cap.** A model that holds only so many entries per feed lets go of the lowest ones – or, where it lets go of
 *   another, raises its floor above it – and tells by `floor` how far it is complete. It may hold less than its cap, but
 *   at least the newest half of it. Letting go and raising the floor are one step for who reads: no page ever
 *   has a hole above the floor that comes with it.
 * - **Order**: a feed is ordered by relevancy, then action id, both descending, with action ids compared as hex.
 * - **Idempotence**: every method may be called again with the same arguments, by the same or another process, at
 *   the same time or later. An entry's relevancy only rises; its reasons are a set that only grows, until it is
 *   removed.
 * - **Atomicity**: per entry, not per chunk. A failed call may have done a part of its work; calling it again
 *   completes it.
 * - **Errors** of the database pass through unchanged. Unknown readers and actions are not errors. A model whose entries are
 *   kept elsewhere rejects with StoreUnavailable while it cannot be reached; `page` and `find` do so within a second.
 * - **Lifecycle**: the store borrows its connections. Who made them closes them.
 */
export interface FeedStore {
  /** The name under which the registry and `FEED_MODEL` know the model. */
  readonly model: string;
  /** Puts the action into the feeds of the chunk's readers, or raises it there. */
  deliver(chunk: DeliveryChunk): Promise<DeliveryOutcome>;
  /**
   * Puts many actions into one reader's feed, or raises them there. Tells which of them are new. To fill with nothing
   * opens a feed: a rebuild does so before it reads what to fill it with.
   */
  fill(userId: UserId, entries: readonly FeedEntry[], options?: FillOptions): Promise<readonly ActionId[]>;
  page(query: FeedPageQuery): Promise<StoredPage>;
  /**
   * The same with all that a page needs to know of its reader, read before the page, in one command. Null: there is no
   * document of the reader to begin with. Absent where a model cannot do it.
   */
  readonly open?: (query: FeedPageQuery, pulled: PulledQuestion) => Promise<OpenedFeed | null>;
  /** The reader's entries for the given actions, in no particular order; missing ones are left out. */
  find(userId: UserId, actionIds: readonly ActionId[]): Promise<FeedEntry[]>;
  /**
   * Readers who hold the action, in the order of their ids; fewer than `limit` means that there are no more. A caller that
   * removes it tells them first and removes it then: cut off in between, nobody is forgotten.
   */
  holders(actionId: ActionId, query: HoldersQuery): Promise<readonly UserId[]>;
  /** Removes each of the actions from the feed of each of these readers. */
  remove(userIds: readonly UserId[], actionIds: readonly ActionId[]): Promise<void>;
  /** Forgets a reader's entries at and below a position. Who asks for it knows that the feed goes on from the source there. */
  trim(userId: UserId, from: FeedPosition): Promise<void>;
  /** Throws a reader's whole feed away, and with it the floor. */
  drop(userId: UserId): Promise<void>;
}
