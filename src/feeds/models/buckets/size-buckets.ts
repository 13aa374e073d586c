import type { FeedBucketsRepository } from './repository.ts';
import type { FeedStore } from '../../feed-store.ts';
import { bucketFeedStore } from './store.ts';

/**
 * Documents of so many entries each: one per reader is open, and closed when it is full. For sites with long feeds, few
 * bumps and deliveries that come in order: few documents and index entries, and a page is one or two of them. Nothing is
 * ever cut off by the model.
 *
 * Cost for a chunk: three or four commands, one more where it is not the first attempt – which readers have an open document,
 * the write for those, that for the others, and a look for what others wrote at the same moment –; the database writes one
 * document of up to `capacity` entries per reader. A bump is six commands:
 * the entry is put into the open document, found twice, taken out of the old one, and emptied documents go. A page is one
 * query, two where it is not the first; where deliveries came out of order, documents overlap, and more of them are read.
 * A removal is two commands. Storage: about 80 bytes per entry and one index key, and per document about 150 bytes and
 * three keys.
 */
export function sizeBucketsFeedStore(buckets: FeedBucketsRepository): FeedStore {
  return bucketFeedStore({
    model: 'size-buckets',
    buckets,
    spanOf: () => 0,
    raisesInPlace: false,
  });
}
