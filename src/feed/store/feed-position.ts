import { ObjectId } from 'mongodb';
import { FLOOR_ABOVE_ALL, type FeedPosition } from '../../domain/newsfeed-item.ts';
import type { FeedPlaceDocument } from '../../storage/documents/feed-documents.ts';
import { FIRST_EPOCH } from './feed-epochs.ts';
import type { FeedDocument } from '../../storage/documents/reader-documents.ts';

export function toPosition({ relevancy, actionId }: FeedPlaceDocument): FeedPosition {
  return { relevancy, actionId: actionId.toHexString() };
}

export function toPlace({ relevancy, actionId }: FeedPosition): FeedPlaceDocument {
  return { relevancy, actionId: new ObjectId(actionId) };
}

/** A feed stored under another epoch, or while deliveries skipped it, has no complete part. */
export function floorOf(document: FeedDocument | null, epoch: number): FeedPosition | null {
  if (document?.isStale === true || document?.isUnbuilt === true) return FLOOR_ABOVE_ALL;
  if ((document?.epoch ?? FIRST_EPOCH) !== epoch) return FLOOR_ABOVE_ALL;
  const floor = document?.floor;
  return floor === undefined ? null : toPosition(floor);
}
