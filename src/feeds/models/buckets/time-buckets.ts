import type { FeedBucketsRepository } from './repository.ts';
import type { FeedStore } from '../../feed-store.ts';
import { bucketFeedStore } from './store.ts';

/**
 * One document per reader and span of time, whose number is the relevancy divided by the span; a span with many entries
 * has several documents, each closed when it is full. For sites whose feeds are read by day or week and whose entries are
 * seldom bumped out of their span. Nothing is ever cut off by the model.
 *
 * Cost for a chunk: three or four commands, one more where it is not the first attempt – which readers have an open document,
 * the write for those, that for the others, and a look for what others wrote at the same moment –; the database writes one
 * document of up to `capacity` entries per reader. A bump within the span is
 * three commands; out of it six, for the entry is put into its new span, found twice, taken out of the old one, and
 * emptied documents go. A page is one query, two where it is not the first, and reads whole documents: more than it gives
 * where a span is crowded, several small ones where spans are empty. A removal is two commands. Storage: about 80 bytes
 * per entry and one index key, and per document about 150 bytes and three keys.
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
