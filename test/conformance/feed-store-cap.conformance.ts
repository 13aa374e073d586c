import { describe, expect, test } from 'vitest';
import { compareFeedPositions, type FeedEntry } from '../../src/domain/newsfeed-item.ts';
import type { FeedStore } from '../../src/feed/feed-store.ts';
import {
  above,
  at,
  begin,
  deliver,
  entry,
  id,
  inOrder,
  readStored,
  type OpenFeedStore,
} from './feed-store-tools.ts';
import { fc } from '../support/fast-check.ts';
import { repeats } from '../support/seed.ts';

const RUNS = repeats(3);
/** Less than the time a test has: what fails is reported with what it failed for, though it has not been made small yet. */
const LIMIT_MS = 120_000;

/**
 * What every feed model has to do with more than it may hold, and with what is taken out of it.
 * @param traits hasCap: it holds no more than its cap, and so has a floor. The others have none, ever.
 */
export function feedStoreCapConformance(
  name: string,
  open: OpenFeedStore,
  { hasCap }: { readonly hasCap: boolean },
): void {
  /** Holds exactly what was given, above the floor; and of that at least the newest half of the cap. */
  async function expectFeed(
    store: FeedStore,
    userId: string,
    given: readonly FeedEntry[],
    { cap, limit = 7 }: { readonly cap: number; readonly limit?: number },
  ): Promise<void> {
    const { entries, floor } = await readStored(store, userId, limit);
    if (!hasCap) expect(floor).toBeNull();
    const wanted = inOrder(given);
    expect(above(floor, entries)).toEqual(above(floor, wanted));
    // Never an entry that was not delivered, nor in another place.
    const byId = new Map(wanted.map((one) => [one.actionId, one]));
    expect(entries).toEqual(entries.map(({ actionId }) => byId.get(actionId)));
    const half = Math.min(wanted.length, Math.ceil(cap / 2));
    expect(above(floor, entries).length).toBeGreaterThanOrEqual(half);
  }

  describe(`feed model ${name}, cap and floor`, () => {
    test('guarantees that a feed that began empty is complete', async () => {
      await using fixture = await open({ cap: 10 });
      await begin(fixture.store, 'ann');
      expect(await fixture.store.page({ userId: 'ann', limit: 10 })).toEqual({ entries: [], floor: null });
      const entries = Array.from({ length: 10 }, (_, n) => entry(n + 1, n));
      for (const [n, { actionId }] of entries.entries())
        await deliver(fixture.store, Number.parseInt(actionId, 16), n, ['ann']);
      expect(await fixture.store.page({ userId: 'ann', limit: 100 })).toEqual({
        entries: inOrder(entries),
        floor: null,
      });
    });

    test.each([1, 2, 3, 4, 10])(
      'evicts the lowest entries when deliveries in order exceed a cap of %i',
      async (cap) => {
        await using fixture = await open({ cap });
        await begin(fixture.store, 'ann');
        const given: FeedEntry[] = [];
        for (let n = 1; n <= 3 * cap + 2; n++) {
          given.push(entry(n, n));
          await deliver(fixture.store, n, n, ['ann']);
          await expectFeed(fixture.store, 'ann', given, { cap });
        }
      },
    );

    test('has no gap above its floor, whatever the order of deliveries and fills, and the floor never sinks', async () => {
      const cap = 10;
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.oneof(
              fc.record({
                kind: fc.constant('deliver' as const),
                n: fc.integer({ min: 1, max: 40 }),
                ms: fc.integer({ min: 0, max: 30 }),
                isFirstAttempt: fc.boolean(),
              }),
              fc.record({
                kind: fc.constant('fill' as const),
                entries: fc.uniqueArray(
                  fc.record({ n: fc.integer({ min: 1, max: 40 }), ms: fc.integer({ min: 0, max: 30 }) }),
                  { selector: ({ n }) => n, maxLength: 25 },
                ),
              }),
            ),
            { minLength: 1, maxLength: 30 },
          ),
          async (steps) => {
            await using fixture = await open({ cap });
            const { store } = fixture;
            await begin(store, 'ann');
            const given = new Map<string, FeedEntry>();
            const give = ({ n, ms }: { n: number; ms: number }): void => {
              const before = given.get(id(n));
              if (before === undefined || before.relevancy < at(ms)) given.set(id(n), entry(n, ms));
            };
            let highest = null;
            for (const step of steps) {
              if (step.kind === 'deliver') {
                give(step);
                await deliver(store, step.n, step.ms, ['ann'], step);
              } else {
                step.entries.forEach(give);
                await store.fill(
                  'ann',
                  step.entries.map(({ n, ms }) => entry(n, ms)),
                );
              }
              await expectFeed(store, 'ann', [...given.values()], { cap });
              const { floor } = await store.page({ userId: 'ann', limit: 1 });
              if (highest !== null) {
                expect(floor).not.toBeNull();
                if (floor !== null) expect(compareFeedPositions(floor, highest)).toBeLessThanOrEqual(0);
              }
              highest = floor;
            }
          },
        ),
        { numRuns: RUNS, plugins: [fc.interruptAfterTimeLimit(LIMIT_MS, { failOnInterrupt: true })] },
      );
    });

    test('does not lower a stored entry that is delivered again as new, whatever slot is next', async () => {
      const cap = 4;
      for (let held = 1; held <= cap; held++) {
        await using fixture = await open({ cap });
        await begin(fixture.store, 'ann');
        // Something has been let go, so that the next place is one that is taken.
        const given = Array.from({ length: cap + 1 }, (_, n) => entry(n + 1, 10 * (n + 1)));
        await fixture.store.fill('ann', given);
        const [, ...kept] = given;
        const again = kept[held - 1];
        if (again === undefined) throw new Error('There are fewer entries than the cap');
        const outcome = await deliver(
          fixture.store,
          held + 1,
          again.relevancy.getTime() - at(0).getTime() - 1,
          ['ann'],
        );
        expect(outcome).toEqual({ added: [], raised: [] });
        await expectFeed(fixture.store, 'ann', given, { cap });
        expect(await fixture.store.find('ann', [id(held + 1)])).toEqual([again]);
      }
    });

    test('stores an evicted entry again when it is bumped', async () => {
      await using fixture = await open({ cap: 4 });
      await begin(fixture.store, 'ann');
      const given = Array.from({ length: 12 }, (_, n) => entry(n + 1, n));
      for (let n = 1; n <= 12; n++) await deliver(fixture.store, n, n - 1, ['ann']);
      const outcome = await deliver(fixture.store, 1, 50, ['ann'], { isFirstAttempt: false });
      expect(outcome).toEqual(hasCap ? { added: ['ann'], raised: [] } : { added: [], raised: ['ann'] });
      await expectFeed(fixture.store, 'ann', [...given.slice(1), entry(1, 50)], { cap: 4 });
      expect(await fixture.store.find('ann', [id(1)])).toEqual([entry(1, 50)]);
    });

    test('separates entries of the same relevancy by their ids', async () => {
      await using fixture = await open({ cap: 8 });
      await begin(fixture.store, 'ann');
      const given: FeedEntry[] = [];
      for (let n = 0; n < 30; n++) {
        const number = ((n * 7) % 30) + 1;
        given.push(entry(number, 5));
        await deliver(fixture.store, number, 5, ['ann']);
        await expectFeed(fixture.store, 'ann', given, { cap: 8, limit: 3 });
      }
    });

    test('accepts ten thousand entries and reports its floor', async () => {
      await using fixture = await open({ cap: 1_000 });
      await begin(fixture.store, 'ann');
      const given = Array.from({ length: 10_000 }, (_, n) => entry(n + 1, (n * 7_919) % 5_000));
      for (let n = 0; n < given.length; n += 1_000)
        await fixture.store.fill('ann', given.slice(n, n + 1_000));
      await expectFeed(fixture.store, 'ann', given, { cap: 1_000, limit: 700 });
    });

    test('returns the floor with a time range', async () => {
      await using fixture = await open({ cap: 10 });
      await begin(fixture.store, 'ann');
      const given = Array.from({ length: 25 }, (_, n) => entry(n + 1, n));
      await fixture.store.fill('ann', given);
      const { entries, floor } = await fixture.store.page({
        userId: 'ann',
        since: at(21),
        until: at(24),
        limit: 10,
      });
      expect(entries).toEqual(inOrder(given.slice(21, 24)));
      expect(floor).toEqual((await readStored(fixture.store, 'ann', 10)).floor);
    });

    test('trusts a fill only down to the position to which it is complete', async () => {
      await using fixture = await open({ cap: 10 });
      const { store } = fixture;
      await begin(store, 'ann');
      await store.drop('ann');
      await store.fill('ann', []);
      const given = [entry(5, 5), entry(6, 6), entry(7, 7)];
      await store.fill('ann', given, { isCompleteDownTo: { relevancy: at(4), actionId: id(4) } });
      const { entries, floor } = await store.page({ userId: 'ann', limit: 10 });
      expect(entries).toEqual(inOrder(given));
      expect(floor).toEqual(hasCap ? { relevancy: at(4), actionId: id(4) } : null);
    });

    test('trims what is at a position and below, ties by id, and nothing else', async () => {
      await using fixture = await open({ cap: 20 });
      await begin(fixture.store, 'ann', 'bob');
      const given = [1, 2, 3, 4, 5, 6].map((n) => entry(n, Math.ceil(n / 3)));
      for (const user of ['ann', 'bob']) await fixture.store.fill(user, given);
      await fixture.store.trim('ann', { relevancy: at(2), actionId: id(4) });
      const left = inOrder(given.slice(4));
      expect((await readStored(fixture.store, 'ann', 2)).entries).toEqual(left);
      expect((await readStored(fixture.store, 'bob', 2)).entries).toEqual(inOrder(given));
      expect(await fixture.store.holders(id(4), { limit: 10 })).toEqual(['bob']);
      await fixture.store.trim('ann', { relevancy: at(2), actionId: id(4) });
      await fixture.store.trim('nobody', { relevancy: at(2), actionId: id(4) });
      expect((await readStored(fixture.store, 'ann', 2)).entries).toEqual(left);
      await fixture.store.trim('ann', { relevancy: at(9), actionId: id(9) });
      expect((await readStored(fixture.store, 'ann', 2)).entries).toEqual([]);
    });

    test('puts an entry lower, or there for fewer reasons, when it is removed and filled in again', async () => {
      await using fixture = await open({ cap: 10 });
      await begin(fixture.store, 'ann');
      await fixture.store.fill('ann', [entry(1, 9, ['FOLLOW', 'TEAM']), entry(2, 5), entry(3, 1)]);
      await fixture.store.remove(['ann'], [id(1)]);
      expect(await fixture.store.fill('ann', [entry(1, 3, ['TEAM'])])).toEqual([id(1)]);
      expect(await fixture.store.page({ userId: 'ann', limit: 10 })).toEqual({
        entries: [entry(2, 5), entry(1, 3, ['TEAM']), entry(3, 1)],
        floor: null,
      });
    });

    test('removes many actions from many feeds at once, and only those', async () => {
      await using fixture = await open({ cap: 10 });
      const users = ['ann', 'bob', 'cid'];
      await begin(fixture.store, ...users);
      for (let n = 1; n <= 5; n++) await deliver(fixture.store, n, n, users);
      await fixture.store.remove(['ann', 'bob', 'nobody'], [id(2), id(4), id(99)]);
      for (const user of ['ann', 'bob'])
        expect((await readStored(fixture.store, user, 2)).entries).toEqual([
          entry(5, 5),
          entry(3, 3),
          entry(1, 1),
        ]);
      expect((await readStored(fixture.store, 'cid', 2)).entries.length).toBe(5);
      expect(await fixture.store.holders(id(4), { limit: 10 })).toEqual(['cid']);
    });

    test('resets its floor when the feed is dropped', async () => {
      await using fixture = await open({ cap: 4 });
      await begin(fixture.store, 'ann');
      for (let n = 1; n <= 12; n++) await deliver(fixture.store, n, n, ['ann']);
      await begin(fixture.store, 'ann');
      await fixture.store.fill('ann', [entry(1, 1)]);
      expect(await fixture.store.page({ userId: 'ann', limit: 10 })).toEqual({
        entries: [entry(1, 1)],
        floor: null,
      });
      expect(await fixture.store.holders(id(12), { limit: 10 })).toEqual([]);
    });

    test('shows a reader no gap above the floor while others exceed the cap', async () => {
      const cap = 10;
      await using fixture = await open({ cap });
      const { store } = fixture;
      const users = ['ann', 'bob', 'cid'];
      await begin(store, ...users);
      const given = Array.from({ length: 60 }, (_, n) => entry(n + 1, (n * 11) % 37));
      // What has been acknowledged, for each reader, before a page is asked for is in it, above the floor.
      const acknowledged: FeedEntry[] = [];
      const state = { isWriting: true };
      const writer = async (part: readonly FeedEntry[]): Promise<void> => {
        for (const { actionId, relevancy, reasons } of part) {
          await store.deliver([
            {
              actionId,
              readers: users.map((userId) => ({ userId, relevancy, reasons })),
              isFirstAttempt: true,
            },
          ]);
          acknowledged.push({ actionId, relevancy, reasons });
        }
      };
      const reader = async (userId: string): Promise<void> => {
        while (state.isWriting) {
          const before = [...acknowledged];
          const { entries, floor } = await store.page({ userId, limit: 100 });
          const found = above(floor, entries);
          const foundIds = new Set(found.map(({ actionId }) => actionId));
          expect(above(floor, before).filter(({ actionId }) => !foundIds.has(actionId))).toEqual([]);
          expect(found).toEqual(inOrder(found));
          expect(foundIds.size).toBe(found.length);
        }
      };
      const writers = [0, 1, 2].map((w) => writer(given.filter((_, n) => n % 3 === w)));
      const readers = users.map(reader);
      try {
        await Promise.all(writers);
      } finally {
        state.isWriting = false;
        await Promise.all(readers);
      }
      for (const user of users) await expectFeed(store, user, given, { cap });
    });

    test('keeps one copy of each entry when writers deliver and bump the same actions concurrently', async () => {
      const cap = 12;
      await using fixture = await open({ cap });
      const { store } = fixture;
      const users = ['ann', 'bob'];
      await begin(store, ...users);
      // Days apart, so that it is another bucket, too.
      const day = 86_400_000;
      const added: string[] = [];
      await Promise.all(
        [0, 1, 2, 3].map(async (w) => {
          for (let n = 1; n <= 15; n++) {
            const number = ((n * (w + 1)) % 15) + 1;
            const outcome = await deliver(store, number, number * 1_000 + w * day, users, {
              isFirstAttempt: w % 2 === 0,
            });
            added.push(...outcome.added.map((user) => `${user} ${String(number)}`));
          }
        }),
      );
      const numbers = (w: number): Set<number> =>
        new Set(Array.from({ length: 15 }, (_, n) => (((n + 1) * (w + 1)) % 15) + 1));
      const given = Array.from({ length: 15 }, (_, n) => n + 1).flatMap((n) => {
        const last = [3, 2, 1, 0].find((w) => numbers(w).has(n));
        return last === undefined ? [] : [entry(n, n * 1_000 + last * day)];
      });
      for (const user of users) await expectFeed(store, user, given, { cap, limit: 4 });
      for (const user of users)
        for (const { actionId } of given)
          expect(added).toContain(`${user} ${String(Number.parseInt(actionId, 16))}`);
    });
  });
}
