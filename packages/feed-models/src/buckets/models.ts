import { feedCollection, index, type Declaration } from '../../../../src/storage/documents/declaration.ts';
import type { FeedModel } from '../../../../src/feeds/feed-model.ts';
import { feedBucketsRepository } from './repository.ts';
import { sizeBucketsFeedStore } from './size-buckets.ts';
import { timeBucketsFeedStore } from './time-buckets.ts';

const TIME_BUCKET_MS = 24 * 60 * 60 * 1_000;
/** Capacity of a document. A delivery rewrites the whole document. */
const TIME_BUCKET_ENTRIES = 100;
const SIZE_BUCKET_ENTRIES = 50;

function buckets(name: string): Declaration {
  return feedCollection(name, {
    holds: 'a part of a feed',
    reader: 'userId',
    serves: 'page and deliveries of a reader',
    indexes: [
      index(
        'open',
        { userId: 1, span: 1 },
        'feed models of buckets: the one bucket of a span that is being filled',
        { unique: true, partialFilterExpression: { isOpen: true } },
      ),
      index('empty', { userId: 1 }, 'feed models of buckets: what holds nothing any more and can go', {
        partialFilterExpression: { isEmpty: true },
      }),
      index('page', { userId: 1, top: -1, bottom: -1 }, 'feed models of buckets: page and unread count'),
      index(
        'holders',
        { 'entries.actionId': 1, userId: 1 },
        'feed models of buckets: who holds an action; cascade',
      ),
    ],
  });
}

export const timeBucketsModel: FeedModel = {
  name: 'time-buckets',
  collections: [buckets('timeBuckets')],
  open: ({ db }) =>
    timeBucketsFeedStore(feedBucketsRepository(db.collection('timeBuckets'), TIME_BUCKET_ENTRIES), {
      spanMs: TIME_BUCKET_MS,
    }),
};

export const sizeBucketsModel: FeedModel = {
  name: 'size-buckets',
  collections: [buckets('sizeBuckets')],
  open: ({ db }) =>
    sizeBucketsFeedStore(feedBucketsRepository(db.collection('sizeBuckets'), SIZE_BUCKET_ENTRIES)),
};
