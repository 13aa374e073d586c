import type { ObjectId } from 'mongodb';
import type {
  FeedEntryDocument,
  FeedPlaceDocument,
} from '../../../../src/storage/documents/feed-documents.ts';

/** The newest entries of one reader's feed, best first. `_id` is the reader's id. */
export interface FeedTopDocument {
  _id: string;
  entries: FeedEntryDocument[];
  /** The highest evicted position. */
  floor: FeedPlaceDocument | null;
  /** Changes with every write. */
  version: ObjectId;
}
