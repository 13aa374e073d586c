import type { ObjectId } from 'mongodb';
import type { LeaseDocument } from './lease-document.ts';
import type { MuteKind } from '../../domain/mute.ts';
import type { UnsentEvents } from './event-documents.ts';
import type { ItemState } from '../../domain/item-states.ts';
import type { ReaderActionId } from './reader-action-id.ts';

declare module './declaration.ts' {
  interface Documents {
    readonly follows: FollowDocument;
    readonly feeds: FeedDocument;
    readonly itemMarks: ItemMarkDocument;
  }
}

export interface ItemMarkDocument {
  _id: ReaderActionId;
  /** Absent: the item is in the feed. */
  state?: ItemState;
  /** When the state was set. */
  at?: Date;
  /** The end of a state that has one, even after it has passed. */
  until?: Date;
  /** The end has been recorded. */
  isOver?: true;
  /** Notifying watchers of the end; absent: done. */
  lifting?: LeaseDocument;
  /** The item's relevancy when it was marked as read. Older releases stored the time of marking, which is not below it. */
  readAt?: Date;
  isUnread?: true;
}

export interface FollowDocument extends UnsentEvents {
  _id: ObjectId;
  followerId: string;
  refId: string;
  active: boolean;
  spans: { since: Date; until?: Date; sinceAction?: ObjectId; types?: string[] }[];
  /** The host application assigned the ref to the follower. Meaningless once the follow is inactive. */
  isAssigned?: true;
  /** Ids of the follower's lists that it is in; possibly of lists that there are no longer. Meaningless once the follow is inactive. */
  lists?: string[];
  /** When it was opened, whatever it brings from before; kept for as long as that is news if it is ended and opened again. */
  openedAt?: Date;
  /** When the host application assigned the ref. Absent: it is not assigned. */
  assignedAt?: Date;
  /** While the ref, a member, is being erased: set on follows already copied to the pseudonym, and on the copies. */
  isCopied?: true;
  /** Time of the last change of spans; present until the feed is filled and the follower counted. */
  settling?: ObjectId;
}

/** One of a reader's mutes; see `domain/mute.ts`. */
export interface MuteDocument {
  kind: MuteKind;
  value: string;
  /** For a phrase. */
  text?: string;
  until?: Date;
}

export interface ReaderListDocument {
  id: string;
  name: string;
  isExclusive: boolean;
}

/** Facts about a reader and their feed in one document, so that a request needs a single read. */
export interface FeedDocument {
  _id: string;
  lastRead?: Date;
  /** Of views with a read mark of their own. */
  viewsRead?: Record<string, Date>;
  /** Lists of what the reader follows, the oldest first; `follows` says what is in them. Absent: none. */
  lists?: ReaderListDocument[];
  /** What the reader wants less of: actions like these, the latest first. Absent: nothing. */
  showsLess?: { actionId: ObjectId; until: Date }[];
  /** Without duplicates; may include ended ones. Absent: none. */
  mutes?: MuteDocument[];
  /** Present while a mute has an end: announcing the earliest one. */
  muteEnd?: LeaseDocument;
  /** There are or were blocks between the reader and others; otherwise blocks are not queried. */
  hasBlocks?: boolean;
  /** Changes with them. Absent: one may be changing, or there never was any. */
  blocksRev?: number;
  /** The reader has marked items; otherwise marks are not queried. */
  hasMarks?: boolean;
  hasUnreadMarks?: boolean;
  /** The reader has given items a state that ends; otherwise ends are not queried. */
  hasSnoozes?: boolean;
  /** The reader took back a follow with its history; otherwise follows are not queried for entries. */
  checksFollows?: boolean;
  /** The reader is or was assigned to refs; otherwise assigned follows are not queried for boosts. */
  hasAssigned?: boolean;
  /** Incremented whenever the stored feed may be wrong in more than one entry. */
  rebuildVersion?: number;
  /** Present while a rebuild is due or under way. */
  rebuild?: LeaseDocument;
  /** The change that made the feed due has not confirmed that watchers were notified: the rebuild must do it. */
  isUntold?: boolean;
  /** Time of the last read, to within an eighth of `DORMANT_AFTER`. Absent until the first read. */
  activeAt?: Date;
  /** Deliveries skipped the feed because nobody read it. Its entries are not trusted until it is rebuilt. */
  isStale?: boolean;
  /** First delivery to a reader who has never read. Recorded only with `NEVER_READ_AFTER`. */
  awaitedSince?: Date;
  /** The stored feed was dropped because it is not read. */
  isDropped?: true;
  /** Present while the stored feed, or what is below its floor, is being deleted: rebuilds wait until this time. */
  dropUntil?: Date;
  /** The same during a rebuild: deliveries that skip the feed from then on make it stale again. */
  isUnbuilt?: boolean;
  /** Epoch of the feed model that built the feed; absent: the first. */
  epoch?: number;
  /** The stored feed is complete above this position; absent: to the end. */
  floor?: { relevancy: Date; actionId: ObjectId };
  /** End of the last rebuild; absent: never rebuilt. */
  rebuiltAt?: Date;
  /** Present while entries at the floor and below are to be deleted: the earliest time for that. */
  trimAt?: Date;
  /** Present while a digest may be due. Its progress is when it first became due. */
  digest?: LeaseDocument<Date>;
  digestedAt?: Date;
}
