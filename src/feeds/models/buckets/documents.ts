import type { ObjectId } from 'mongodb';
import type { FeedEntryDocument } from '../../../storage/documents/feed-documents.ts';

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
