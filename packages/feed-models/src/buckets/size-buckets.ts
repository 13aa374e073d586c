import type { FeedBucketsRepository } from './repository.ts';
import type { FeedStore } from '../../../../src/feeds/feed-store.ts';
import { bucketFeedStore } from './store.ts';

/**
 * Documents with a fixed number of entries: one per reader is open, and is closed when full. For sites with long feeds, few
 * bumps and deliveries in order: few documents and index entries, and a page reads one or two of them. Never evicts.
 *
 * Cost of a chunk: three or four commands, plus one unless it is the first attempt: find readers with an open document,
 * write to those, write for the others, and check for concurrent writes. The database writes one document of up to
 * `capacity` entries per reader. A bump takes six commands: the entry is added to the open document, found twice and removed
 * from the old one, and empty documents are deleted. A page is one query, or two if it is not the first; when deliveries
 * came out of order, documents overlap, and more of them are read. A removal takes two commands. Storage: about 80 bytes per
 * entry and one index key, plus about 150 bytes and three keys per document.
 */
export function sizeBucketsFeedStore(buckets: FeedBucketsRepository): FeedStore {
  return bucketFeedStore({
    model: 'size-buckets',
    buckets,
    spanOf: () => 0,
    raisesInPlace: false,
  });
}
