import type { ObjectId } from 'mongodb';
import type { FeedEntryDocument, FeedPlaceDocument } from '../../../storage/documents/feed-documents.ts';

/** The newest entries of one reader's feed, best first. `_id` is the reader's. */
export interface FeedTopDocument {
  _id: string;
  entries: FeedEntryDocument[];
  /** The best of what was let go. */
  floor: FeedPlaceDocument | null;
  /** Another one after every write. */
  version: ObjectId;
}
