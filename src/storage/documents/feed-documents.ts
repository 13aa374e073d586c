import type { ObjectId } from 'mongodb';
import type { DeliveryReason } from '../../domain/newsfeed-item.ts';

export interface FeedPlaceDocument {
  relevancy: Date;
  actionId: ObjectId;
}

export interface FeedEntryDocument extends FeedPlaceDocument {
  reasons: DeliveryReason[];
}

export interface StoredEntryDocument extends FeedEntryDocument {
  /** Given by its model. */
  _id: string;
  userId: string;
}
