import { expect, test } from 'vitest';
import type { FeedEntry } from '../../../src/domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../../src/domain/viewer.ts';
import { feedReader, type FeedReader } from '../../../src/feed/feed-reader.ts';
import type { StoredPage } from '../../../src/feed/feed-store.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const MINUTE = 60_000;

interface Watched {
  readonly reader: FeedReader;
  /** What the store was asked for and gave, in order. */
  readonly reads: readonly Promise<StoredPage>[];
}

/** Reads as the services do, and lets the test see how often the store is asked. */
function watched(parts: Parts): Watched {
  const reads: Promise<StoredPage>[] = [];
  const fail = (): never => {
    throw new Error('The store is there and has lost nothing');
  };
  // The page is to be read on its own, and not in one command with its reader.
  const { open: _open, ...store } = parts.feedStore;
  const reader = feedReader({
    ...parts.core,
    feedStore: {
      ...store,
      page: (query) => {
        const read = parts.feedStore.page(query);
        reads.push(read);
        return read;
      },
    },
    feedRebuilds: { ...parts.core.feedRebuilds, markDue: fail },
    onStoreUnavailable: fail,
  });
  return { reader, reads };
}

/** As a request does: the store is asked for the page while the reader is looked up. */
async function pageFor(
  reader: FeedReader,
  lookUp: () => Promise<ReaderProfile>,
): Promise<readonly FeedEntry[]> {
  const query = { limit: 10 };
  const ahead = reader.readAhead('ann', query, () => Promise.resolve(), null);
  return reader.page(await lookUp(), query, ahead);
}

/** Ann follows a site of three actions; their ids, newest first. */
async function feedOfThree(parts: Parts): Promise<string[]> {
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'actor' }]);
  const ids: string[] = [];
  for (const objectId of ['1', '2', '3']) {
    const descriptor = { custom: { verb: 'posted', objectType: 'post', objectId } };
    ids.unshift((await parts.publish({ actorId: 'actor', descriptor })).action.id);
  }
  await parts.fanOut();
  return ids;
}

async function rebuiltAt(parts: Parts, at: Date): Promise<void> {
  await parts.database.collections.feeds.updateOne(
    { _id: 'ann' },
    { $set: { rebuiltAt: at } },
    { upsert: true },
  );
}

test('a page that was read before a rebuild ended has no gap where the feed had one then', async () => {
  await using parts = await openParts();
  const ids = await feedOfThree(parts);
  // As after deliveries that passed her by: it is known, and what is stored is not shown.
  await parts.database.collections.feeds.updateOne(
    { _id: 'ann' },
    { $set: { isStale: true } },
    { upsert: true },
  );
  await parts.feedStore.remove(['ann'], ids.slice(0, 2));
  await parts.repositories.feedRebuilds.markDue(['ann'], new Date());
  const { reader, reads } = watched(parts);
  const lookUp = async (): Promise<ReaderProfile> => {
    expect((await reads[0])?.entries).toHaveLength(1);
    await parts.fanOut();
    return parts.session('ann').profile();
  };
  const page = await pageFor(reader, lookUp);
  expect(page.map((entry) => entry.actionId)).toEqual(ids);
  expect(reads).toHaveLength(2);
});

test('the store is read once, unless the feed was rebuilt within the last minutes', async () => {
  await using parts = await openParts();
  const ids = await feedOfThree(parts);
  const readsOfPage = async (): Promise<number> => {
    const { reader, reads } = watched(parts);
    const page = await pageFor(reader, () => parts.session('ann').profile());
    expect(page.map((entry) => entry.actionId)).toEqual(ids);
    return reads.length;
  };
  expect(await readsOfPage()).toBe(1);
  const now = Date.now();
  await rebuiltAt(parts, new Date(now - MINUTE));
  expect(await readsOfPage()).toBe(2);
  // The clock of another host may be ahead.
  await rebuiltAt(parts, new Date(now + MINUTE));
  expect(await readsOfPage()).toBe(2);
  await rebuiltAt(parts, new Date(now - 60 * MINUTE));
  expect(await readsOfPage()).toBe(1);
});

test('a rebuild records when it ended', async () => {
  await using parts = await openParts();
  await feedOfThree(parts);
  expect((await parts.session('ann').profile()).rebuiltAt).toBeNull();
  const before = Date.now();
  await parts.repositories.feedRebuilds.markDue(['ann'], new Date());
  await parts.fanOut();
  const at = (await parts.session('ann').profile()).rebuiltAt?.getTime() ?? 0;
  expect(at).toBeGreaterThanOrEqual(before);
  expect(at).toBeLessThanOrEqual(Date.now());
});

test('a reader who cannot be loaded gets that error, whatever the store returns', async () => {
  await using parts = await openParts();
  const { reader } = watched(parts);
  const lookUp = (): Promise<never> => Promise.reject(new Error('Nobody knows'));
  await expect(pageFor(reader, lookUp)).rejects.toThrow('Nobody knows');
});
