import type { ObjectId } from 'mongodb';
import type {
  FeedPlaceDocument,
  StoredEntryDocument,
} from '../../../../src/storage/documents/feed-documents.ts';

/** A slot of a reader's ring with its entry. `_id` consists of the reader and the slot number. */
export type FeedSlotDocument = StoredEntryDocument;

/** The ring of one reader's feed. `_id` is the reader's id. */
export interface FeedRingDocument {
  _id: string;
  /** Numbers handed out so far; number n belongs to slot n mod cap. */
  numFeed: number;
  /** The latest claims of numbers, newest first, each with its first number. */
  claims: { by: ObjectId; first: number }[];
  /** The largest cap under which a still occupied slot may have been filled. */
  extent: number;
  /** The highest evicted position. */
  floor: FeedPlaceDocument | null;
  /** At least `rank` stored entries are at or above this position. Absent: unknown. */
  pivot?: (FeedPlaceDocument & { rank: number }) | null;
}
