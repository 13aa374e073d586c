import type { ActionId, RefId, UserId } from '../domain/action.ts';
import type { Member } from '../domain/member.ts';
import type { Follow } from '../domain/viewer.ts';
import type { ReaderMarks } from './store/feeds.ts';
import {
  type DeliveryReason,
  type FeedEntry,
  type FeedPosition,
  type ItemMark,
  compareFeedPositions,
  FLOOR_ABOVE_ALL,
} from '../domain/newsfeed-item.ts';
import type { WantedActions } from '../storage/actions/action-document.ts';
import type { Extent } from './extent.ts';
import type { Beside } from './store/known-answers.ts';
import type { PulledAhead, PullGuess } from './store/pulled-refs.ts';
import type { RedisPart } from '../connections/redis-parts.ts';
import type { Declaration } from '../storage/documents/declaration.ts';
import type { StoredFollow } from '../storage/documents/follow-document.ts';
import type { ReaderAction } from '../storage/documents/reader-action-id.ts';
import type { Database } from '../storage/database/mongo.ts';
import { positionAbove } from '../domain/cursor.ts';
import { inSlices } from '../lib/turn.ts';

/** Where an action stands in a feed, and why it is there. */
export interface Placement {
  readonly relevancy: Date;
  readonly reasons: readonly DeliveryReason[];
}

/** A reader of a chunk, and the place of the action in their feed. */
export interface ReaderDelivery extends Placement {
  readonly userId: UserId;
}

/** Readers of one action. Chunks delivered together are of different actions. */
export interface DeliveryChunk {
  readonly actionId: ActionId;
  /** No reader occurs twice. */
  readonly readers: readonly ReaderDelivery[];
  /** No earlier attempt can have written this chunk. A hint: a wrong value costs time, not correctness. */
  readonly isFirstAttempt: boolean;
  /**
   * Most readers hold the action at a lower place, and nobody asks whom the delivery raised: `raised` may name fewer. A
   * hint like the one above. Default: no.
   */
  readonly isRaise?: boolean;
}

/**
 * Changes made by a delivery, for live events. Readers who had the item unchanged are in neither list. If a model does not
 * store an item, because it was evicted or lies at or below the floor, it cannot compare and reports the item as added.
 */
export interface DeliveryOutcome {
  readonly added: readonly UserId[];
  readonly raised: readonly UserId[];
}

export interface FillOptions {
  /**
   * With these entries the feed has been given everything above this position; `null`: everything. Sets the floor to this
   * position, or to the highest evicted entry. A model that can lose feeds (its floor is then above all) is complete again
   * from here on, provided the feed was opened before and not lost since.
   */
  readonly isCompleteDownTo?: FeedPosition | null;
}

export interface FeedQuery {
  /** Exclusive: entries strictly after this position. */
  readonly after?: FeedPosition;
  /** Relevancy range: `since` inclusive, `until` exclusive. */
  readonly since?: Date;
  readonly until?: Date;
  /** At least 1. */
  readonly limit: number;
  /** The actions that are asked for. The source reads no others; stores need not care. Default: all. */
  readonly wanted?: WantedActions;
  /** Where the source stops if few of the actions are wanted. Default: at the end. */
  readonly extent?: Extent;
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

/** A page of the stored part of one feed. */
export interface StoredPage {
  /** In feed order, at most `limit`. Fewer means the model stores no more in the range. */
  readonly entries: readonly FeedEntry[];
  /**
   * The stored feed is complete above this position: it has every entry delivered to it and not removed. Nothing is
   * guaranteed at the position and below. `null`: complete to the end. Only a rebuild lowers the floor.
   */
  readonly floor: FeedPosition | null;
  /** The model lost the feed or never had it; a rebuild restores it. The floor is then above all. */
  readonly isLost?: true;
}

/** Facts about a reader that were read together with a page of their feed, and before it. */
export interface KnownReader {
  readonly marks: ReaderMarks;
  /** `null`: the host application has not described them. */
  readonly member: Member | null;
  /** A time before the read. */
  readonly asOf: Date;
  /** Stamp of the directory; see `storage/stamps/directory-stamps.ts`. */
  readonly directoryStamp: number;
  /** The reader's follows of the requested pulled refs; absent: not requested. */
  readonly pulledFollows?: readonly Follow[];
}

/** The answer to it. `null` in a map: there is none. */
export interface FoundBeside {
  readonly asked: Beside;
  /** The newest first. */
  readonly unread: readonly ActionId[];
  readonly marks: ReadonlyMap<ActionId, (ItemMark & ReaderAction) | null>;
  /** Stored entries of the actions marked as unread. */
  readonly entries: ReadonlyMap<ActionId, FeedEntry | null>;
  /** Revisions of the same actions, as far as there are such. */
  readonly revisions: ReadonlyMap<ActionId, number>;
  readonly follows: ReadonlyMap<RefId, StoredFollow | null>;
}

/** The answer of the database to one command for a page and its reader. */
export interface OpenedFeed {
  /** Equal for equal questions with equal answers; `null`: it does not say everything about the reader that it could. */
  readonly print: () => string | null;
  /** Decodes the answer, once. */
  readonly read: () => OpenedPage;
}

/** A page whose entries include the revisions of their actions. */
export interface OpenedPage extends StoredPage {
  readonly reader: KnownReader;
  /** Data about pulled refs, read after the entries by a guess; absent: not read, or not complete. */
  readonly pulled?: PulledAhead;
  /** `null`: nothing was asked for beside the page. */
  readonly beside: FoundBeside | null;
}

/** Asks about pulled refs together with a page. */
export interface PulledQuestion {
  /** Refs of which some actions may not have been pushed. */
  readonly refIds: ReadonlySet<RefId>;
  /** Expected needs of the page; `null`: unknown. */
  readonly guess: PullGuess | null;
}

/**
 * A way to store materialised feeds. All models behave alike and differ only in cost.
 *
 * - **Stored entries** are a cache. A model may store only the newest entries of a feed, but none that were not
 *   delivered. `feed-reader.ts` reads the entries below from the actions.
 * - **Cap.** A model with a cap evicts the lowest entries, or evicts another one and raises its floor above it. `floor`
 *   says how far the feed is complete. A model may store fewer entries than its cap, but at least the newest half.
 *   Evicting and raising the floor are atomic for readers: no page has a gap above the floor that it reports.
 * - **Order**: relevancy, then action id, both descending; action ids compare as hex.
 * - **Idempotence**: every method may be repeated with the same arguments, by any process, concurrently or later. Until
 *   an entry is removed, its relevancy only rises and its set of reasons only grows.
 * - **Atomicity**: per entry, not per chunk. A failed call may have done part of its work; repeating it completes the
 *   rest.
 * - **Errors** of the database pass through unchanged. Unknown readers and actions are not errors. Models that store
 *   entries elsewhere reject with StoreUnavailable while that cannot be reached; `page` and `find` do so within a
 *   second.
 * - **Lifecycle**: the store borrows its connections; their owner closes them.
 */
export interface FeedStore {
  /** Name of the model, the value of `FEED_MODEL`. */
  readonly model: string;
  /** It stores all that is delivered: the floor of its pages is always `null`. Default: it may not. */
  readonly isUncapped?: true;
  /** Adds each chunk's action to the feeds of its readers, or raises it there. Returns an outcome per chunk. */
  deliver(chunks: readonly DeliveryChunk[]): Promise<readonly DeliveryOutcome[]>;
  /**
   * Adds many actions to one reader's feed, or raises them there. Returns those that are new. Filling with nothing opens a
   * feed; a rebuild does so before it reads the actions.
   */
  fill(userId: UserId, entries: readonly FeedEntry[], options?: FillOptions): Promise<readonly ActionId[]>;
  page(query: FeedPageQuery): Promise<StoredPage>;
  /**
   * A page together with everything it needs to know about its reader, read before the page, in one command. `null`: the
   * reader has no document yet. Absent when the model cannot do it.
   */
  readonly open?: (
    query: FeedPageQuery,
    pulled: PulledQuestion,
    beside: Beside | null,
  ) => Promise<OpenedFeed | null>;
  /** The reader's entries for the given actions, unordered; missing ones are left out. */
  find(userId: UserId, actionIds: readonly ActionId[]): Promise<FeedEntry[]>;
  /** The stored entries of the action of these readers, unordered; readers without one are left out. */
  held(actionId: ActionId, userIds: readonly UserId[]): Promise<readonly ReaderDelivery[]>;
  /**
   * Readers whose stored feed has the action, ordered by id; fewer than `limit` means the end. Callers that remove the
   * action notify the readers first and remove it afterwards, so that an interruption loses no notification.
   */
  holders(actionId: ActionId, query: HoldersQuery): Promise<readonly UserId[]>;
  /**
   * Raises the action in all feeds that store it, and never lowers it. Absent when the model has to visit each of them.
   * @param few there are few of them: calls at the same time share a write. With readers, only in theirs.
   */
  readonly raise?: (actionId: ActionId, relevancy: Date, few?: FewFeeds) => Promise<void>;
  /** Removes each of the actions from the feed of each of these readers. */
  remove(userIds: readonly UserId[], actionIds: readonly ActionId[]): Promise<void>;
  /**
   * Deletes a reader's stored entries at and below a position. The caller has set the feed to continue from the source
   * there.
   */
  trim(userId: UserId, from: FeedPosition): Promise<void>;
  /** Deletes a reader's whole stored feed, including the floor. */
  drop(userId: UserId): Promise<void>;
}

/** The feeds of these readers; absent: of all. */
export type FewFeeds = Readonly<{ userIds?: readonly UserId[] }>;

/** Actions at once: they often go to the same feeds, whose writers meet. */
const AT_ONCE = 8;

/** For a model that writes one action at a time. */
export function eachChunk(deliver: (chunk: DeliveryChunk) => Promise<DeliveryOutcome>): FeedStore['deliver'] {
  return async (chunks) => (await inSlices(chunks, AT_ONCE, (some) => Promise.all(some.map(deliver)))).flat();
}

/** A way to store feeds. The core has `items` and `pull`; parts bring others. */
export interface FeedModel {
  /** The value of `FEED_MODEL`. */
  readonly name: string;
  /** The model's own collections. */
  readonly collections: readonly Declaration[];
  /** @throws when a required part is missing */
  open(parts: FeedModelParts): FeedStore;
}

export interface FeedModelParts {
  readonly db: Database['db'];
  /** Related documents may be on different shards. Default: false. */
  readonly isSharded?: boolean;
  /** Epoch of the current choice of model; see `feed-epochs.ts`. Default: the first. */
  readonly feedEpoch?: number;
  /** Newest entries to keep per feed, for models with a cap of their own. */
  readonly cap: number;
  /** Empty without Redis. */
  readonly redis: readonly RedisPart[];
}

type FeedRange = Pick<FeedQuery, 'after' | 'since' | 'until'>;

export function isInRange(position: FeedPosition, { after, since, until }: FeedRange): boolean {
  const { relevancy } = position;
  return (
    (after === undefined || compareFeedPositions(after, position) < 0) &&
    (since === undefined || relevancy.getTime() >= since.getTime()) &&
    (until === undefined || relevancy.getTime() < until.getTime())
  );
}

export function isAboveAll(floor: FeedPosition | null): boolean {
  return floor !== null && compareFeedPositions(floor, FLOOR_ABOVE_ALL) === 0;
}

export function isAbove(position: FeedPosition, floor: FeedPosition | null): boolean {
  return floor === null || compareFeedPositions(position, floor) < 0;
}

/** Returns the first when they are equal. */
export function higher(a: FeedPosition | null, b: FeedPosition | null): FeedPosition | null {
  if (a === null || b === null) return a ?? b;
  return compareFeedPositions(a, b) <= 0 ? a : b;
}

/** Query start for entries at the floor and below; empty when everything is below. */
export function startBelow(floor: FeedPosition, after: FeedPosition | undefined): { after?: FeedPosition } {
  if (isAboveAll(floor)) return {};
  const { time, actionId } = positionAbove({ time: floor.relevancy, actionId: floor.actionId });
  const start = { relevancy: time, actionId };
  return { after: after === undefined || isAbove(after, start) ? start : after };
}
