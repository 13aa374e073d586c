import type { ObjectId } from 'mongodb';
import type { FeedEntryDocument } from '../../../../src/storage/documents/feed-documents.ts';

/** A part of one reader's feed: the entries of a time span, or a fixed number of entries. */
export interface FeedBucketDocument {
  _id: ObjectId;
  userId: string;
  /** Time buckets: number of the span. Size buckets: 0. */
  span: number;
  entries: FeedEntryDocument[];
  /** Number of entries ever added. */
  size: number;
  /** Upper and lower bound of the entries' relevancies. */
  top: Date;
  bottom: Date;
  /** Present while entries may be added; at most one bucket of a span is open. */
  isOpen?: true;
  /** Present when closed and its last entry has been removed. */
  isEmpty?: true;
}
