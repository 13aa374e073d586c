import type { FeedBucketsRepository } from './repository.ts';
import type { FeedStore } from '../../../../src/feeds/feed-store.ts';
import { bucketFeedStore } from './store.ts';

/**
 * One document per reader and time span, numbered by relevancy divided by the span; busy spans have several documents, each
 * closed when full. For sites whose feeds are read by day or week and whose entries are seldom bumped out of their span.
 * Never evicts.
 *
 * Cost of a chunk: three or four commands, plus one unless it is the first attempt: find readers with an open document,
 * write to those, write for the others, and check for concurrent writes. The database writes one document of up to
 * `capacity` entries per reader. A bump within the span takes three commands; out of it six: the entry is added to its new
 * span, found twice and removed from the old one, and empty documents are deleted. A page is one query, or two if it is not
 * the first. It reads whole documents: too much where a span is crowded, several small ones where spans are sparse. A
 * removal takes two commands. Storage: about 80 bytes per entry and one index key, plus about 150 bytes and three keys per
 * document.
 */
export function timeBucketsFeedStore(
  buckets: FeedBucketsRepository,
  { spanMs }: { readonly spanMs: number },
): FeedStore {
  return bucketFeedStore({
    model: 'time-buckets',
    buckets,
    spanOf: (relevancy) => Math.floor(relevancy.getTime() / spanMs),
    raisesInPlace: true,
  });
}
