import type { ObjectId } from 'mongodb';
import type { FeedPlaceDocument, StoredEntryDocument } from '../../../storage/documents/feed-documents.ts';

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
