import { ObjectId } from 'mongodb';
import type { FeedPosition } from '../domain/newsfeed-item.ts';
import type { FeedPlaceDocument } from './feed-documents.ts';

export function toPosition({ relevancy, actionId }: FeedPlaceDocument): FeedPosition {
  return { relevancy, actionId: actionId.toHexString() };
}

export function toPlace({ relevancy, actionId }: FeedPosition): FeedPlaceDocument {
  return { relevancy, actionId: new ObjectId(actionId) };
}
