import { index, type IndexDefinition } from '../../../storage/indexes/index-definition.ts';
import type { FeedModel } from '../../feed-model.ts';
import { feedBucketsRepository } from './repository.ts';
import { sizeBucketsFeedStore } from './size-buckets.ts';
import { timeBucketsFeedStore } from './time-buckets.ts';

const TIME_BUCKET_MS = 24 * 60 * 60 * 1_000;
/** Capacity of a document. A delivery rewrites the whole document. */
const TIME_BUCKET_ENTRIES = 100;
const SIZE_BUCKET_ENTRIES = 50;

function bucketIndexes(collection: string): IndexDefinition[] {
  return [
    index(
      collection,
      'open',
      { userId: 1, span: 1 },
      'feed models of buckets: the one bucket of a span that is being filled',
      { unique: true, partialFilterExpression: { isOpen: true } },
    ),
    index(
      collection,
      'empty',
      { userId: 1 },
      'feed models of buckets: what holds nothing any more and can go',
      { partialFilterExpression: { isEmpty: true } },
    ),
    index(
      collection,
      'page',
      { userId: 1, top: -1, bottom: -1 },
      'feed models of buckets: page and unread count',
    ),
    index(
      collection,
      'holders',
      { 'entries.actionId': 1, userId: 1 },
      'feed models of buckets: who holds an action; cascade',
    ),
  ];
}

export const timeBucketsModel: FeedModel = {
  name: 'time-buckets',
  indexes: bucketIndexes('timeBuckets'),
  open: ({ db }) =>
    timeBucketsFeedStore(feedBucketsRepository(db.collection('timeBuckets'), TIME_BUCKET_ENTRIES), {
      spanMs: TIME_BUCKET_MS,
    }),
};

export const sizeBucketsModel: FeedModel = {
  name: 'size-buckets',
  indexes: bucketIndexes('sizeBuckets'),
  open: ({ db }) =>
    sizeBucketsFeedStore(feedBucketsRepository(db.collection('sizeBuckets'), SIZE_BUCKET_ENTRIES)),
};
