import { expect, test } from 'vitest';
import { compareFeedPositions, type FeedEntry } from '../../src/domain/newsfeed-item.ts';
import { type FeedQuery, isInRange } from '../../src/feed/feed-store.ts';
import { entriesAbove } from '../../src/feed/page/upward.ts';
import { fc } from '../support/fast-check.ts';
import { repeats } from '../support/seed.ts';

/** A feed that is only read down, and how often. */
function feedOf(entries: readonly FeedEntry[]) {
  const sorted = entries.toSorted(compareFeedPositions);
  const reads: FeedQuery[] = [];
  return {
    sorted,
    reads,
    page(query: FeedQuery): Promise<readonly FeedEntry[]> {
      reads.push(query);
      return Promise.resolve(sorted.filter((entry) => isInRange(entry, query)).slice(0, query.limit));
    },
  };
}

function entryAt(time: number, n: number): FeedEntry {
  return { actionId: n.toString(16).padStart(24, '0'), relevancy: new Date(time), reasons: ['FOLLOW'] };
}

/** Times between entries, in milliseconds: all at once, close, and years apart. */
const GAPS = fc.array(
  fc.tuple(fc.integer({ min: 1, max: 900 }), fc.constantFrom(0, 1, 1_000, 3_600_000, 40_000_000_000)),
  { minLength: 1, maxLength: 6 },
);

test('what is above a position is found, the nearest first, however dense the feed is there', async () => {
  await fc.assert(
    fc.asyncProperty(
      GAPS,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 700 }),
      fc.record({ isFromEnd: fc.boolean(), hasSince: fc.boolean(), hasUntil: fc.boolean() }),
      async (gaps, at, limit, { isFromEnd, hasSince, hasUntil }) => {
        let time = Date.UTC(1800, 0);
        let n = 0;
        const entries = gaps.flatMap(([count, gap]) =>
          Array.from({ length: count }, () => entryAt((time += gap), (n += 1))),
        );
        const { sorted, page } = feedOf(entries);
        const placeAt = (part: number): FeedEntry | undefined =>
          sorted[Math.floor(part * (sorted.length - 1))];
        const after = isFromEnd ? undefined : placeAt(at);
        const since = hasSince ? placeAt(1 - at / 2)?.relevancy : undefined;
        const until = hasUntil ? placeAt(at / 3)?.relevancy : undefined;
        const range = {
          ...(since === undefined ? {} : { since }),
          ...(until === undefined ? {} : { until }),
        };
        const expected = sorted
          .filter((entry) => isInRange(entry, range))
          .filter((entry) => after === undefined || compareFeedPositions(entry, after) < 0)
          .reverse()
          .slice(0, limit);
        const query = { ...range, ...(after === undefined ? {} : { after }), limit };
        expect(await entriesAbove(page, query)).toEqual(expected);
      },
    ),
    { numRuns: repeats(300) },
  );
});

test.each([
  ['not far below the top', 400, 1],
  ['far below the top', 50_000, 3],
  ['at the end', null, 30],
])('a page %s of a long feed takes few reads', async (_where, depth, most) => {
  const { sorted, reads, page } = feedOf(
    Array.from({ length: 100_000 }, (_, n) => entryAt(1_700_000_000_000 + n * 60_000, n)),
  );
  const after = depth === null ? undefined : sorted[depth];
  const found = await entriesAbove(page, { limit: 26, ...(after === undefined ? {} : { after }) });
  const end = depth ?? sorted.length;
  expect(found).toEqual(sorted.slice(end - 26, end).reverse());
  expect(reads.length).toBeLessThanOrEqual(most);
});
