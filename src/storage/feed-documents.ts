import type { ObjectId } from 'mongodb';
import type { DeliveryReason } from '../domain/newsfeed-item.ts';

/** A place in a feed. */
export interface FeedPlaceDocument {
  relevancy: Date;
  actionId: ObjectId;
}

/** An entry within a document that holds several. */
export interface FeedEntryDocument extends FeedPlaceDocument {
  reasons: DeliveryReason[];
}

/** An entry that is a document of its own. */
export interface StoredEntryDocument extends FeedEntryDocument {
  userId: string;
}

/** One place in the ring of one reader's feed, and the entry that has it. `_id` is the reader's and the place's number. */
export interface FeedSlotDocument extends StoredEntryDocument {
  _id: string;
}

/** The ring of one reader's feed. `_id` is the reader's. */
export interface FeedRingDocument {
  _id: string;
  /** How many numbers have been given out; number n has the place n mod cap. */
  numFeed: number;
  /** The latest to whom numbers were given, newest first, with the first of them. */
  claims: { by: ObjectId; first: number }[];
  /** The largest cap under which a place may have been taken that is still taken. */
  extent: number;
  /** The best of what was let go. */
  floor: FeedPlaceDocument | null;
  /** At least `rank` stored entries are not below this place. Absent: not known. */
  pivot?: (FeedPlaceDocument & { rank: number }) | null;
}

/** The newest entries of one reader's feed, best first. `_id` is the reader's. */
export interface FeedTopDocument {
  _id: string;
  entries: FeedEntryDocument[];
  /** The best of what was let go. */
  floor: FeedPlaceDocument | null;
  /** Another one after every write. */
  version: ObjectId;
}

/** A part of one reader's feed: entries of one span of time, or as many as fit. */
export interface FeedBucketDocument {
  _id: ObjectId;
  userId: string;
  /** Time buckets: the span's number. Size buckets: 0. */
  span: number;
  entries: FeedEntryDocument[];
  /** How many entries were ever put in. */
  size: number;
  /** No entry's relevancy is above `top`, none below `bottom`. */
  top: Date;
  bottom: Date;
  /** Present while entries may still be put in: in one bucket of a span at a time. */
  isOpen?: true;
  /** Present when it is not open and its last entry has been taken out. */
  isEmpty?: true;
}
