import { ObjectId, type Collection } from 'mongodb';
import type { FollowDocument } from '../../src/storage/documents/reader-documents.ts';
import { load } from './raw.ts';

/** Ids in the order of their numbers. */
export function readerId(index: number): string {
  return `reader-${String(index).padStart(7, '0')}`;
}

/** Follows of one ref by so many readers, since yesterday, as `followMany` leaves them. */
export function loadFollowers(
  follows: Collection<FollowDocument>,
  refId: string,
  count: number,
  firstReader = 0,
): Promise<void> {
  const since = new Date(Date.now() - 86_400_000);
  return load(follows, count, (index) => ({
    _id: new ObjectId(),
    followerId: readerId(firstReader + index),
    refId,
    active: true,
    spans: [{ since }],
  }));
}
