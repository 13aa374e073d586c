import { expect, test } from 'vitest';
import { cappedFeedStore } from '../../src/capped/store.ts';
import type { FeedStore } from '../../../../src/feed/feed-store.ts';
import { cappedCollections, feedRingsRepository } from '../../src/capped/repository.ts';
import type { Database } from '../../../../src/storage/database/mongo.ts';
import {
  above,
  at,
  begin,
  deliver,
  entry,
  id,
  inOrder,
  readStored,
} from '../../../../test/conformance/feed-store-tools.ts';
import { borrowDatabase, openShared, returnDatabase } from '../../../../test/support/spare-databases.ts';

interface Fixture extends AsyncDisposable {
  readonly database: Database;
  /** As a process that was started with this cap has it. */
  storeOf(cap: number): FeedStore;
}

async function open(): Promise<Fixture> {
  const database = await openShared(await borrowDatabase());
  return {
    database,
    storeOf: (cap) => cappedFeedStore(feedRingsRepository(cappedCollections(database.db), cap), cap),
    async [Symbol.asyncDispose]() {
      await returnDatabase(database);
    },
  };
}

async function slotsOf({ database }: Fixture, userId: string): Promise<string[]> {
  const documents = await cappedCollections(database.db).slots.find({ userId }).toArray();
  return documents.map(({ _id }) => _id).sort();
}

test('puts the n-th entry into slot n mod cap and counts the entries', async () => {
  await using fixture = await open();
  const store = fixture.storeOf(4);
  for (let n = 1; n <= 6; n++) await deliver(store, n, n, ['a_n']);
  const { slots, rings } = cappedCollections(fixture.database.db);
  const documents = await slots.find({}).sort({ _id: 1 }).toArray();
  expect(documents.map(({ _id, actionId }) => [_id, actionId.toHexString()])).toEqual([
    ['a_n_0', id(5)],
    ['a_n_1', id(6)],
    ['a_n_2', id(3)],
    ['a_n_3', id(4)],
  ]);
  expect(await rings.findOne({ _id: 'a_n' })).toMatchObject({ numFeed: 6 });
});

test('skips entries that were bumped into the newest half, and keeps them', async () => {
  await using fixture = await open();
  const store = fixture.storeOf(6);
  await begin(store, 'ann');
  for (let n = 1; n <= 6; n++) await deliver(store, n, n, ['ann']);
  for (const n of [1, 2]) await deliver(store, n, 100 + n, ['ann'], { isFirstAttempt: false });
  for (const n of [7, 8]) await deliver(store, n, n, ['ann']);
  const { entries, floor } = await readStored(store, 'ann', 10);
  expect(entries).toEqual(
    inOrder([entry(1, 101), entry(2, 102), entry(5, 5), entry(6, 6), entry(7, 7), entry(8, 8)]),
  );
  expect(floor).toEqual({ relevancy: at(4), actionId: id(4) });
});

test('returns nothing at or below its floor, where a late writer may have left an outdated position', async () => {
  await using fixture = await open();
  const store = fixture.storeOf(4);
  await begin(store, 'ann');
  for (let n = 1; n <= 6; n++) await deliver(store, n, 10 * n, ['ann']);
  const { floor } = await readStored(store, 'ann', 10);
  expect(floor).toEqual({ relevancy: at(20), actionId: id(2) });
  // The place of the entry that is about to be overwritten: a writer that began before the floor was raised.
  const repository = feedRingsRepository(cappedCollections(fixture.database.db), 4);
  const [, , , lowest] = await repository.ranked('ann', 1, 4);
  const held = (await repository.all('ann')).find(({ actionId }) => actionId === lowest?.actionId);
  expect(
    await repository.write([
      { userId: 'ann', slot: held?.slot ?? -1, entry: entry(2, 15), evicted: lowest ?? null },
    ]),
  ).toEqual([]);
  expect((await store.page({ userId: 'ann', limit: 10 })).entries).toEqual(
    inOrder([entry(4, 40), entry(5, 50), entry(6, 60)]),
  );
  expect(await store.find('ann', [id(2), id(4)])).toEqual([entry(4, 40)]);
});

test('fills a larger cap within one turn of the ring, and keeps the newest half meanwhile', async () => {
  await using fixture = await open();
  const [small, large] = [fixture.storeOf(3), fixture.storeOf(8)];
  await begin(small, 'ann');
  for (let n = 1; n <= 5; n++) await deliver(small, n, n, ['ann']);
  for (let n = 6; n <= 30; n++) {
    await deliver(large, n, n, ['ann']);
    const { entries, floor } = await readStored(large, 'ann', 3);
    const held = above(floor, entries);
    expect(held).toEqual(Array.from({ length: held.length }, (_, k) => entry(n - k, n - k)));
    expect(held.length).toBeGreaterThanOrEqual(n < 3 + 8 ? 2 : 4);
  }
  expect(await slotsOf(fixture, 'ann')).toHaveLength(8);
});

test.each([1, 2, 5])('frees the slots beyond a smaller cap of %i with later deliveries', async (cap) => {
  await using fixture = await open();
  const [large, small] = [fixture.storeOf(12), fixture.storeOf(cap)];
  await begin(large, 'ann');
  const given = Array.from({ length: 50 }, (_, n) => entry(n + 1, n + 1));
  for (let n = 1; n <= 17; n++) await deliver(large, n, n, ['ann']);
  for (let n = 18; n <= 50; n++) {
    await deliver(small, n, n, ['ann']);
    const { entries, floor } = await readStored(small, 'ann', 5);
    const held = above(floor, entries);
    expect(held).toEqual(above(floor, inOrder(given.slice(0, n))));
    expect(held.length).toBeGreaterThanOrEqual(Math.ceil(cap / 2));
  }
  const slots = await slotsOf(fixture, 'ann');
  expect(slots.length).toBeLessThanOrEqual(cap);
  expect(slots.every((slot) => Number(slot.slice('ann_'.length)) < cap)).toBe(true);
});

test('frees entries that are not among the newest of a smaller cap when the feed is filled', async () => {
  await using fixture = await open();
  const [large, small] = [fixture.storeOf(12), fixture.storeOf(5)];
  await begin(large, 'ann');
  for (let n = 1; n <= 12; n++) await deliver(large, n, n, ['ann']);
  await small.fill('ann', [entry(20, 20)]);
  const { entries, floor } = await readStored(small, 'ann', 5);
  expect(entries.slice(0, 5)).toEqual([20, 12, 11, 10, 9].map((n) => entry(n, n)));
  expect(floor).toEqual({ relevancy: at(8), actionId: id(8) });
  expect(await slotsOf(fixture, 'ann')).toEqual(
    [0, 1, 10, 11, 2, 3, 4, 8, 9].map((slot) => `ann_${String(slot)}`),
  );
});

test('keeps feeds consistent between processes with different caps', async () => {
  await using fixture = await open();
  const stores = [fixture.storeOf(4), fixture.storeOf(9), fixture.storeOf(6)];
  const [first] = stores;
  if (first === undefined) throw new Error('There is no store');
  await begin(first, 'ann', 'bob');
  const given = Array.from({ length: 60 }, (_, n) => entry(n + 1, (n * 7) % 45));
  await Promise.all(
    stores.map(async (store, k) => {
      for (const { actionId, relevancy, reasons } of given.filter((_, n) => n % 3 === k))
        await store.deliver([
          {
            actionId,
            readers: ['ann', 'bob'].map((userId) => ({ userId, relevancy, reasons })),
            isFirstAttempt: true,
          },
        ]);
    }),
  );
  for (const userId of ['ann', 'bob']) {
    const { entries, floor } = await readStored(first, userId, 4);
    expect(above(floor, entries)).toEqual(above(floor, inOrder(given)));
  }
});
