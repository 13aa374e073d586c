import { describe, expect, test } from 'vitest';
import { fc } from '../../../../test/support/fast-check.ts';
import type { FeedPage, FeedQuery } from '@fanfare/client';
import type { FanfareItem } from '../../src/item.ts';
import { ItemList } from '../../src/store/item-list.ts';
import { readPage } from '../../src/store/feed-pages.ts';
import type { PageQuery } from '../../src/store/list-store.ts';
import { placeOf } from '../../src/store/order.ts';
import { testItem } from '../../src/testing.ts';

const listIn = (order: 'RELEVANCY' | 'TOP'): ItemList<FanfareItem> =>
  new ItemList((item) => placeOf(item, order));
const at = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
const ids = (list: ItemList<FanfareItem>): string[] => list.entries.map(({ item }) => item.id);

/** What the server has: the same rules, written down as the definition of a feed. */
class World {
  readonly items = new Map<string, FanfareItem>();

  sorted(): FanfareItem[] {
    return [...this.items.values()].sort((a, b) => (a.relevancy < b.relevancy ? 1 : -1));
  }

  page(after: string | null, first: number) {
    const below = this.sorted().filter(({ relevancy }) => after === null || relevancy < after);
    const nodes = below.slice(0, first);
    return {
      edges: nodes.map((node) => ({ cursor: node.relevancy, node })),
      pageInfo: { hasNextPage: below.length > first, endCursor: nodes.at(-1)?.relevancy ?? null },
    };
  }

  /** As a server answers, that counts the feed's whole. */
  feed({ after, first = 25, before, last = 25 }: FeedQuery = {}): Promise<FeedPage<FanfareItem>> {
    const rest = { unread: { count: 0, isExact: true }, state: 'READY' as const, liveCursor: '' };
    if (before === undefined) return Promise.resolve({ ...rest, ...this.page(after ?? null, first) });
    const above = this.sorted().filter(({ relevancy }) => relevancy > before);
    const edges = above.slice(-last).map((node) => ({ cursor: node.relevancy, node }));
    const pageInfo = { hasNextPage: true, endCursor: null, hasPreviousPage: above.length > last };
    return Promise.resolve({ ...rest, edges, pageInfo });
  }
}

type Asked = 'ask' | 'up' | 'answer' | 'show' | 'refresh';
type Step = readonly ['put' | 'remove', number] | readonly [Asked, null];
const ASKED: readonly Asked[] = ['ask', 'up', 'answer', 'show', 'refresh'];
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.nat(11).map((n) => ['put', n] as const) },
  { weight: 2, arbitrary: fc.nat(11).map((n) => ['remove', n] as const) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(...ASKED).map((kind) => [kind, null] as const),
  },
);

describe('pages, additions, bumps and removals in any order', () => {
  test.each([true, false])("show each item once, in the server's order (held: %s)", (mustWait) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const [world, list] = [new World(), listIn('RELEVANCY')];
        for (let n = 0; n < 12; n += 1) world.items.set(`i${String(n)}`, testItem(`i${String(n)}`, at(n)));
        let [clock, answer]: [number, (() => void) | null] = [100, null];
        const first = (): void => {
          const take = list.expectRefresh();
          const page = world.page(null, Math.max(3, list.entries.length));
          answer = () => {
            take(page, mustWait);
          };
        };
        first();
        for (const [kind, n] of steps) {
          const id = `i${String(n)}`;
          if (kind === 'put') {
            const isThere = world.items.has(id);
            const item = testItem(id, at((clock += 1)));
            world.items.set(id, item);
            list.apply({ item, isNew: !isThere }, mustWait);
          } else if (kind === 'remove') {
            world.items.delete(id);
            list.apply({ itemId: id }, mustWait);
          } else if (kind === 'show') list.showWaiting();
          else if (kind === 'answer') {
            answer?.();
            answer = null;
          } else if (answer === null && kind === 'refresh') first();
          else if (answer === null && kind === 'ask' && list.hasNextPage) {
            const take = list.expectPage();
            const page = world.page(list.cursor, 3);
            answer = () => {
              take(page);
            };
          }
          expect(new Set(ids(list)).size).toBe(list.entries.length);
        }
        answer?.();
        list.showWaiting();
        while (list.hasNextPage) {
          const take = list.expectPage();
          take(world.page(list.cursor, 3));
        }
        expect(ids(list)).toEqual(world.sorted().map(({ id }) => id));
      }),
      { numRuns: 200 },
    );
  });

  test.each([true, false])('do so, too, of a list that began in the middle (held: %s)', async (mustWait) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(11), fc.array(step, { maxLength: 60 }), async (start, steps) => {
        const [world, list] = [new World(), listIn('RELEVANCY')];
        for (let n = 0; n < 12; n += 1) world.items.set(`i${String(n)}`, testItem(`i${String(n)}`, at(n)));
        const read = (query: PageQuery, after?: string) => readPage(world, { first: 3 }, query, after);
        let [clock, isBegun]: [number, boolean] = [100, false];
        const asked: (() => Promise<void>)[] = [];
        const settle = async (): Promise<void> => asked.pop()?.();
        const begin = (): void => {
          const take = list.expectRefresh();
          // Just above the item, as the server has it.
          const page = read(
            { first: Math.max(3, list.entries.length) },
            isBegun ? list.top?.after : `${at(start)}~`,
          );
          isBegun = true;
          asked.push(async () => take(await page, mustWait));
        };
        const load = (isUp: boolean): void => {
          const take = list.expectPage(isUp);
          const page = read(isUp ? { before: list.top?.before ?? '' } : { after: list.cursor ?? '' });
          asked.push(async () => take(await page));
        };
        begin();
        await settle();
        expect(list.entries[0]?.item.id).toBe(`i${String(start)}`);
        for (const [kind, n] of steps) {
          const id = `i${String(n)}`;
          if (kind === 'put') {
            const isThere = world.items.has(id);
            const item = testItem(id, at((clock += 1)));
            world.items.set(id, item);
            list.apply({ item, isNew: !isThere }, mustWait);
          } else if (kind === 'remove') {
            world.items.delete(id);
            list.apply({ itemId: id }, mustWait);
          } else if (kind === 'show') list.showWaiting();
          else if (kind === 'answer') {
            await settle();
          } else if (asked.length === 0 && kind === 'refresh') begin();
          else if (asked.length === 0 && kind === 'up' && list.top !== undefined) load(true);
          else if (asked.length === 0 && kind === 'ask' && list.hasNextPage) load(false);
          expect(new Set(ids(list)).size).toBe(list.entries.length);
        }
        await settle();
        for (const isUp of [false, true])
          while (isUp ? list.top !== undefined : list.hasNextPage) {
            load(isUp);
            await settle();
          }
        list.showWaiting();
        expect(ids(list)).toEqual(world.sorted().map(({ id }) => id));
      }),
      { numRuns: 200 },
    );
  });
});

test('waiting items move nothing, and a removal is applied at once', () => {
  const list = listIn('RELEVANCY');
  const [a, b, c] = ['a', 'b', 'c'].map((id, n) => testItem(id, at(3 - n))) as [
    FanfareItem,
    FanfareItem,
    FanfareItem,
  ];
  const edges = [a, b, c].map((node) => ({ cursor: node.id, node }));
  list.expectRefresh()({ edges, pageInfo: { hasNextPage: false, endCursor: 'c' } }, true);
  list.apply({ item: testItem('c', at(9)), isNew: false }, true);
  list.apply({ item: testItem('d', at(8)), isNew: true }, true);
  list.apply({ itemId: 'a' }, true);
  expect([ids(list), list.waiting]).toEqual([['b', 'c'], 2]);
  expect(list.showWaiting()).toBe('c');
  expect([ids(list), list.waiting]).toEqual([['c', 'd', 'b'], 0]);
});

test('what stays is shown as it is now, and so is what others have raised when it is shown', () => {
  const list = listIn('RELEVANCY');
  const edges = ['b', 'a'].map((id, n) => ({ cursor: id, node: testItem(id, at(2 - n)) }));
  list.expectRefresh()({ edges, pageInfo: { hasNextPage: false, endCursor: 'a' } }, true);
  list.apply({ item: testItem('a', at(8)), isNew: false }, true);
  list.apply({ item: testItem('a', at(9)), isNew: false }, true, true);
  expect([ids(list), list.waiting]).toEqual([['b', 'a'], 1]);
  list.showWaiting();
  expect([ids(list), list.entries[0]?.item.relevancy]).toEqual([['a', 'b'], at(9)]);
});

test('what falls, since something was taken back, is no news and stays where it is while items wait', () => {
  const list = listIn('RELEVANCY');
  const pageOf = (...items: readonly FanfareItem[]) => ({
    edges: items.map((node) => ({ cursor: node.id, node })),
    pageInfo: { hasNextPage: false, endCursor: null },
  });
  list.expectRefresh()(pageOf(testItem('b', at(5)), testItem('a', at(3))), true);
  list.apply({ item: testItem('b', at(9)), isNew: false }, true);
  list.apply({ item: testItem('b', at(2)), isNew: false }, true);
  expect([ids(list), list.waiting, list.entries[0]?.item.relevancy]).toEqual([['b', 'a'], 0, at(2)]);
  list.expectRefresh()(pageOf(testItem('a', at(3)), testItem('b', at(1))), true);
  expect([ids(list), list.waiting, list.entries[0]?.item.relevancy]).toEqual([['b', 'a'], 0, at(1)]);
});

test('an event below the loaded part is left to its page', () => {
  const list = listIn('RELEVANCY');
  const node = testItem('a', at(5));
  list.expectRefresh()({ edges: [{ node }], pageInfo: { hasNextPage: true, endCursor: 'a' } }, false);
  list.apply({ item: testItem('old', at(1)), isNew: true }, false);
  expect([ids(list), list.waiting]).toEqual([['a'], 0]);
});

test('where a page ends below its last item, what comes between is shown: it is in no other page', () => {
  const list = listIn('RELEVANCY');
  const page = (n: number, endCursor: string) => ({
    edges: [{ cursor: at(n), node: testItem(`i${String(n)}`, at(n)) }],
    pageInfo: { hasNextPage: true, endCursor },
  });
  list.expectRefresh()(page(9, at(5)), false);
  for (const n of [7, 2]) list.apply({ item: testItem(`i${String(n)}`, at(n)), isNew: true }, false);
  list.expectPage()(page(3, at(3)));
  // Each once, whether the next page has it or not.
  list.expectPage()(page(2, at(2)));
  expect(ids(list)).toEqual(['i9', 'i7', 'i3', 'i2']);
});

test('after a removal the list is read again, continues with what followed, and only new items wait', () => {
  const list = listIn('RELEVANCY');
  const pageOf = (places: readonly number[]) => ({
    edges: places.map((n) => ({ node: testItem(`i${String(n)}`, at(n)) })),
    pageInfo: { hasNextPage: true, endCursor: `i${String(places.at(-1))}` },
  });
  list.expectRefresh()(pageOf([9, 8, 7]), true);
  list.expectRefresh()(pageOf([10, 9, 7, 6, 5]), true);
  expect([ids(list), list.waiting]).toEqual([['i9', 'i7', 'i6', 'i5'], 1]);
  expect(list.showWaiting()).toBe('i10');
});

test('in the order TOP new items wait, and a bumped item stays where it is', () => {
  const list = listIn('TOP');
  const edges = ['a', 'b'].map((id) => ({ cursor: id, node: testItem(id, at(1)) }));
  list.expectRefresh()({ edges, pageInfo: { hasNextPage: false, endCursor: 'b' } }, false);
  list.apply({ item: testItem('b', at(9)), isNew: false }, false);
  list.apply({ item: testItem('new', at(9)), isNew: true }, false);
  expect([ids(list), list.waiting]).toEqual([['a', 'b'], 1]);
});
