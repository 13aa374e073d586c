import { bookmarksOf } from '../../../parts/bookmarks/src/use-cases.ts';
import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { watching } from '../../support/watching.ts';
import { BOOKMARKED } from '../../../parts/bookmarks/src/use-cases.ts';

const ann = (parts: Parts) => parts.session('ann');

async function published(parts: Parts, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await parts.publish({ scope: 'PUBLIC' })).action.id);
  return ids;
}

async function keptBy(parts: Parts, size: number): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<Parts['services']['readBookmarks']>> = await parts.services.readBookmarks(
      ann(parts),
      { first: size, after },
    );
    ids.push(...page.edges.map(({ node }) => node.id));
    if (!page.hasMore) return ids;
    after = page.end;
  }
}

test('lists bookmarks, the newest first, each once and at its first position', async () => {
  await using parts = await openParts();
  const [a = '', b = '', c = '', d = ''] = await published(parts, 4);
  for (const id of [c, a, d, b, c]) expect((await parts.services.bookmark(ann(parts), id)).id).toBe(id);
  for (const size of [1, 2, 3, 100]) expect(await keptBy(parts, size)).toEqual([b, d, a, c]);
  await parts.services.unbookmark(ann(parts), d);
  await parts.services.unbookmark(ann(parts), d);
  expect(await keptBy(parts, 2)).toEqual([b, a, c]);
  expect((await parts.services.readBookmarks(parts.session('bob'), {})).edges).toEqual([]);
});

test('who watches hears of a bookmark and of its end, and of no other call', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'RESTRICTED', recipients: ['ann'] });
  await parts.fanOut();
  await using watch = await watching(parts.services, ann(parts).identity, {});
  const { services } = parts;
  await services.unbookmark(ann(parts), action.id);
  for (const change of [services.bookmark, services.bookmark, services.unbookmark, services.unbookmark])
    await change(ann(parts), action.id);
  const [first, second] = [await watch.next(), await watch.next()];
  expect([first.kind, second.kind]).toEqual(['updated', 'updated']);
  expect(second.cursor).toBe(await parts.live.liveLog.position('ann'));
});

test('pages through bookmarks of the same millisecond without a gap', async () => {
  await using parts = await openParts();
  const ids = await published(parts, 5);
  const at = new Date();
  for (const id of ids) await bookmarksOf(parts.core).add('ann', id, at);
  expect(await keptBy(parts, 2)).toEqual([...ids].sort().reverse());
});

test('mutes and hidden items do not affect bookmarks', async () => {
  await using parts = await openParts();
  const [id = ''] = await published(parts, 1);
  await parts.services.bookmark(ann(parts), id);
  await parts.services.addMute(ann(parts), { memberId: 'actor' });
  await parts.services.hideFeedItem(ann(parts), id);
  expect(await keptBy(parts, 1)).toEqual([id]);
});

test('stores at most ten thousand bookmarks of a reader', async () => {
  await using parts = await openParts();
  const [id = '', next = ''] = await published(parts, 2);
  await parts.services.bookmark(ann(parts), id);
  const at = new Date();
  await parts.database.collections.bookmarks.insertMany(
    Array.from({ length: 9_999 }, () => ({ _id: { userId: 'ann', actionId: new ObjectId() }, at })),
  );
  await expect(parts.services.bookmark(ann(parts), next)).rejects.toMatchObject({ code: 'CONFLICT' });
  await parts.services.bookmark(ann(parts), id);
  await parts.services.unbookmark(ann(parts), id);
  await parts.services.bookmark(ann(parts), next);
});

test('a page of bookmarks takes one read of the list and one of the actions', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const ids = await published(parts, 30);
  for (const id of ids) await parts.services.bookmark(ann(parts), id);
  const session = ann(parts);
  await session.profile();
  const commands = await commandsOf(parts.database, () => parts.services.readBookmarks(session, {}));
  expect(commands.map(({ name, collection }) => `${name} ${collection}`)).toEqual([
    'find bookmarks',
    'aggregate actions',
  ]);
  const looking = await commandsOf(parts.database, () => session.loadMany(BOOKMARKED, ids));
  expect(looking.map(({ name, collection }) => `${name} ${collection}`)).toEqual(['find bookmarks']);
});

test('bookmarking takes three commands: the action with blocks, how many there are, and the write', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  const commands = await commandsOf(parts.database, () => parts.services.bookmark(ann(parts), action.id));
  expect(commands.map(({ name, collection }) => `${name} ${collection}`).sort()).toEqual([
    ...['aggregate actions', 'aggregate bookmarks', 'insert bookmarks'],
  ]);
});

test('many watchers of one action read their bookmarks in one query', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const [id = ''] = await published(parts, 1);
  await parts.services.bookmark(ann(parts), id);
  const identities = ['ann', 'bob', 'cid'].map((userId) => parts.session(userId).identity);
  const commands = await commandsOf(parts.database, async () => {
    const found = await Promise.all(
      identities.map((identity) => parts.core.openEventSession(identity).load(BOOKMARKED, id)),
    );
    expect(found).toEqual([{ userId: 'ann', actionId: id }, null, null]);
  });
  expect(commands).toHaveLength(1);
});

test('bookmarks set at the same time are each kept once, in a few commands', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const [id = ''] = await published(parts, 1);
  const readers = Array.from({ length: 20 }, (_, index) => `reader-${String(index)}`);
  const commands = await commandsOf(parts.database, () =>
    Promise.all([...readers, ...readers].map((userId) => parts.services.bookmark(parts.session(userId), id))),
  );
  const bookmarks = bookmarksOf(parts.core);
  expect(await Promise.all(readers.map((userId) => bookmarks.count(userId, 10)))).toEqual(
    readers.map(() => 1),
  );
  // The same three for all of them.
  expect(commands.length).toBe(3);
});

test('bookmarks of several readers that are counted at the same time are counted for each up to its limit', async () => {
  await using parts = await openParts();
  const bookmarks = bookmarksOf(parts.core);
  for (let n = 0; n < 5; n += 1) await bookmarks.add('ann', new ObjectId().toHexString(), new Date(n));
  await bookmarks.add('bob', new ObjectId().toHexString(), new Date());
  const asked = [
    ['bob', 9],
    ['ann', 3],
    ['ann', 9],
    ['$cid', 9],
    ['bob', 9],
  ] as const;
  const counts = await Promise.all(asked.map(([userId, limit]) => bookmarks.count(userId, limit)));
  expect(counts).toEqual([1, 3, 5, 0, 1]);
});
