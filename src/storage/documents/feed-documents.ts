import type { ObjectId } from 'mongodb';
import type { DeliveryReason } from '../../domain/newsfeed-item.ts';

export interface FeedPlaceDocument {
  relevancy: Date;
  actionId: ObjectId;
}

/** An entry inside a document with several entries. */
export interface FeedEntryDocument extends FeedPlaceDocument {
  reasons: DeliveryReason[];
}

/** An entry that is a document of its own. */
export interface StoredEntryDocument extends FeedEntryDocument {
  /** Given by its model. */
  _id: string;
  userId: string;
}
