import type { ObjectId } from 'mongodb';
import type { MuteKind } from '../../domain/mute.ts';
import type { UnsentEvents } from './event-documents.ts';
import type { ItemState } from '../../domain/item-mark.ts';
import type { ReaderActionId } from './reader-action-id.ts';

export interface BookmarkDocument {
  _id: ReaderActionId;
  at: Date;
}

export interface ItemMarkDocument {
  _id: ReaderActionId;
  /** Absent: it is in the feed. */
  state?: ItemState;
  /** When the state was set. */
  at?: Date;
  /** While the state is SNOOZED: its end, also when that has passed. */
  until?: Date;
  /** The end has been recorded. */
  isOver?: true;
  /** When watchers are to be notified of the end; absent: they have been. */
  due?: Date;
  /** Who is about to notify them. */
  claim?: string;
  readAt?: Date;
  isUnread?: true;
}

export interface FollowDocument extends UnsentEvents {
  _id: ObjectId;
  followerId: string;
  refId: string;
  active: boolean;
  spans: { since: Date; until?: Date; sinceAction?: ObjectId; types?: string[] }[];
  /** The host application assigned the ref to the follower. Says nothing once the follow is not active any more. */
  isAssigned?: true;
  /** While the ref, a member, is being erased: of their follow that it was copied to the pseudonym, and of the copy. */
  isCopied?: true;
  /** The time of the change of the spans; present until the feed holds what they say and the follower is counted. */
  settling?: ObjectId;
}

/** Something that a reader mutes; see `domain/mute.ts`. */
export interface MuteDocument {
  kind: MuteKind;
  value: string;
  /** Of a phrase. */
  text?: string;
  until?: Date;
}

/** What is known of a reader and their feed as a whole, in one document: one read tells a request all of it. */
export interface FeedDocument {
  _id: string;
  lastRead?: Date;
  /** Members who are muted without an end; see `feed-mutes.ts`. Absent: none. */
  muted?: string[];
  /** Everything else that is muted, each kind and value once. What has ended may still be there. Absent: nothing. */
  mutes?: MuteDocument[];
  /** Present while a mute has an end: the earliest of them, or the end of the lease of who announces it. */
  muteWakeAt?: Date;
  /** The reader has said something of single items; only then is it looked up. */
  hasMarks?: boolean;
  hasUnreadMarks?: boolean;
  /** The reader has snoozed items; only then are snoozes laid over the feed. */
  hasSnoozes?: boolean;
  /** The reader may have hidden items that have not been brought over to `itemMarks`. */
  hasHiddenItems?: boolean;
  /** The reader has taken a follow back with its history; only then are follows looked up for entries. */
  checksFollows?: boolean;
  /** The reader follows something as assigned, or once did; only then are such follows looked up for what is lifted. */
  hasAssigned?: boolean;
  /** Raised whenever the stored feed may disagree with what it should be in more than one entry. */
  rebuildVersion?: number;
  /** Rebuilds that were begun and have not come to an end in good order. */
  rebuildsBegun?: number;
  /** What made the feed due was to tell watchers of it, and has not said that it did: the rebuild is to tell them. */
  isUntold?: boolean;
  /** When the reader last read, to within an eighth of `DORMANT_AFTER`. Absent until the first time. */
  activeAt?: Date;
  /** Deliveries have passed the feed by, since nobody was reading it. Nothing it holds is vouched for until it is rebuilt. */
  isStale?: boolean;
  /** Since when something comes to a reader who has never read. Noted only with `NEVER_READ_AFTER`. */
  awaitedSince?: Date;
  /** Nothing of it is stored, since it is not read. */
  isDropped?: true;
  /** Present while what is stored is thrown away: until when rebuilds wait for that. */
  dropUntil?: Date;
  /** The same, while it is being rebuilt: what skips it from then on makes it stale again. */
  isUnbuilt?: boolean;
  /** Under which choice of a feed model the feed was last made; absent: under the first. */
  epoch?: number;
  /** The stored feed is complete above this position; absent: all the way down. */
  floor?: { relevancy: Date; actionId: ObjectId };
  /** When the last rebuild came to its end; absent: there was none. */
  rebuiltAt?: Date;
  /** Present while the store is to forget what lies at the floor and below: when that may be done. */
  trimAt?: Date;
  /** Present while something has come that the reader may have to be reminded of: when that is decided. */
  digestAt?: Date;
  digestedAt?: Date;
  /** Present while the feed is to be rebuilt: when that may begin, or the end of the lease of who is at it. */
  rebuildAt?: Date;
  /** While it is rebuilt, the end of the lease: also where it has become due again since. */
  rebuildLease?: Date;
}

/** An item a reader has hidden from their own feed, of before there was `itemMarks`. */
export interface HiddenItemDocument {
  _id: ObjectId;
  userId: string;
  actionId: ObjectId;
}
