import { expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import { LiveLogUnavailable } from '../../../src/live/live-log.ts';
import { MemoryLiveLog } from '../../support/memory-live-log.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { watching } from '../../support/watching.ts';

const ANN = ['ann'];
const exact = (count: number) => ({ count, isExact: true });

/** Delivers something new to ann. */
async function deliver(parts: Parts, actorId = 'bob'): Promise<string> {
  const { action } = await parts.publish({ actorId, scope: 'RESTRICTED', recipients: ANN });
  await parts.fanOut();
  return action.id;
}

test('sends the count after a new item, with the cursor of the last event', async () => {
  await using parts = await openParts();
  await deliver(parts);
  await using ann = await watching(parts.services, parts.session('ann').identity);
  for (const count of [2, 3]) {
    const actionId = await deliver(parts);
    const added = await ann.next();
    expect(added).toMatchObject({ kind: 'added', item: { actionId } });
    expect(await ann.next()).toEqual({ kind: 'unread', cursor: added.cursor, unread: exact(count) });
  }
});

test('sends it when an item disappears, for any reason', async () => {
  await using parts = await openParts();
  const [first, second, third] = [await deliver(parts), await deliver(parts), await deliver(parts)];
  await using ann = await watching(parts.services, parts.session('ann').identity);
  const session = () => parts.session('ann');
  await parts.services.hideFeedItem(session(), first);
  expect((await ann.unread()).unread).toEqual(exact(2));
  await parts.services.unhideFeedItem(session(), first);
  expect((await ann.unread()).unread).toEqual(exact(3));
  await parts.services.hideAction(parts.session('admin', 'admin'), second, null);
  await parts.fanOut();
  expect((await ann.unread()).unread).toEqual(exact(2));
  await parts.services.deleteAction(parts.session('admin', 'admin'), third);
  await parts.fanOut();
  expect((await ann.unread()).unread).toEqual(exact(1));
});

test('sends it when the reader marks as read, mutes or unmutes elsewhere, in every tab', async () => {
  await using parts = await openParts();
  await deliver(parts, 'bob');
  await deliver(parts, 'cid');
  await using one = await watching(parts.services, parts.session('ann').identity);
  await using other = await watching(parts.services, parts.session('ann').identity);
  await using bob = await watching(parts.services, parts.session('bob').identity);
  const steps = [
    [() => parts.services.addMute(parts.session('ann'), { memberId: 'bob' }), 1],
    [() => parts.services.removeMute(parts.session('ann'), { memberId: 'bob' }), 2],
    [() => parts.services.markFeedRead(parts.session('ann'), clock.now()), 0],
  ] as const;
  for (const [step, count] of steps) {
    await step();
    for (const tab of [one, other]) expect((await tab.unread()).unread).toEqual(exact(count));
  }
  // Nobody else is notified of it.
  await parts.publish({ scope: 'RESTRICTED', recipients: ['bob'] });
  await parts.fanOut();
  expect((await bob.next()).kind).toBe('added');
});

test('counts the whole feed, whatever the filter', async () => {
  await using parts = await openParts();
  await using ann = await watching(parts.services, parts.session('ann').identity, {
    withUnread: true,
    filter: { types: ['Posted'] },
  });
  await deliver(parts);
  expect(await ann.next()).toMatchObject({ kind: 'unread', unread: exact(1) });
});

test('sends nothing if the count is unchanged', async () => {
  await using parts = await openParts();
  await using ann = await watching(parts.services, parts.session('ann').identity);
  const id = await deliver(parts);
  expect((await ann.unread()).unread).toEqual(exact(1));
  await parts.services.bookmark(parts.session('ann'), id);
  expect((await ann.next()).kind).toBe('updated');
  // A count has been made of that when the next one is there, or it was made together with it.
  await parts.services.hideFeedItem(parts.session('ann'), id);
  expect((await ann.next()).kind).toBe('removed');
  expect(await ann.next()).toMatchObject({ kind: 'unread', unread: exact(0) });
});

/** Delivers something new to ann while no event can be appended. */
async function deliverUntold(parts: Parts): Promise<void> {
  await parts.publish({ scope: 'RESTRICTED', recipients: ANN });
  const away = () => Promise.reject(new LiveLogUnavailable('Away'));
  await using worker = parts.worker(
    {},
    {
      liveLog: Object.assign(new MemoryLiveLog(), { watched: away, append: away, forget: away }),
      onLiveLogError: () => undefined,
    },
  );
  worker.start();
  await parts.idle();
}

test('sends the count after FeedResync, with what was delivered while events were lost', async () => {
  await using parts = await openParts();
  await using ann = await watching(parts.services, parts.session('ann').identity);
  await deliver(parts);
  expect((await ann.unread()).unread).toEqual(exact(1));
  await deliverUntold(parts);
  await parts.live.liveLog.forget('ann');
  const resync = await ann.next();
  expect(resync).toMatchObject({ kind: 'resync', reason: 'log-interrupted' });
  expect(await ann.next()).toEqual({ kind: 'unread', cursor: resync.cursor, unread: exact(2) });
});

test('sends no count after FeedResync that was read before it', async () => {
  await using parts = await openParts();
  const { page } = parts.feedStore;
  let onRead: () => void = () => undefined;
  const isRead = new Promise<void>((resolve) => {
    onRead = resolve;
  });
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  await using ann = await watching(parts.services, parts.session('ann').identity);
  await deliver(parts);
  Object.assign(parts.feedStore, {
    page: async (...args: Parameters<typeof page>) => {
      const read = await page.apply(parts.feedStore, args);
      onRead();
      await gate;
      return read;
    },
  });
  expect((await ann.next()).kind).toBe('added');
  const next = ann.next();
  await isRead;
  await deliverUntold(parts);
  await parts.live.liveLog.forget('ann');
  expect((await next).kind).toBe('resync');
  open();
  expect(await ann.next()).toMatchObject({ kind: 'unread', unread: exact(2) });
});

test('sends a client that resumes the count, since the last one may have been lost', async () => {
  await using parts = await openParts();
  const first = await watching(parts.services, parts.session('ann').identity);
  await deliver(parts);
  const { cursor } = await first.next();
  await first[Symbol.asyncDispose]();
  await using again = await watching(parts.services, parts.session('ann').identity, {
    withUnread: true,
    after: cursor,
  });
  expect(again.cursor).toBe(cursor);
  expect(await again.next()).toEqual({ kind: 'unread', cursor, unread: exact(1) });
});

test('gives each count a cursor after which all unsent events follow', async () => {
  await using parts = await openParts();
  const first = await watching(parts.services, parts.session('ann').identity);
  const one = await deliver(parts);
  const { cursor } = await first.unread();
  const two = await deliver(parts);
  await parts.services.markFeedRead(parts.session('ann'), new Date(0));
  await first[Symbol.asyncDispose]();
  await using again = await watching(parts.services, parts.session('ann').identity, {
    withUnread: true,
    after: cursor,
  });
  expect(await again.next()).toMatchObject({ kind: 'added', item: { actionId: two } });
  expect((await again.next()).kind).toBe('resync');
  expect((await again.next()).kind).toBe('unread');
  expect(one).not.toBe(two);
});

test('costs an idle watcher nothing, and one who does not request counts neither', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await using plain = await watching(parts.services, parts.session('ann').identity, {});
  await using counted = await watching(parts.services, parts.session('ann').identity);
  const commands = await commandsOf(parts.database, async () => {
    for (let n = 0; n < 3; n += 1) await parts.services.markFeedRead(parts.session('bob'), clock.now());
  });
  expect(commands.map(({ name, collection }) => [name, collection])).toEqual(
    Array.from({ length: 3 }, () => ['update', 'feeds']),
  );
  await deliver(parts);
  await counted.unread();
  const next = await deliver(parts);
  expect((await plain.next()).kind).toBe('added');
  expect(await plain.next()).toMatchObject({ kind: 'added', item: { actionId: next } });
});

test('counts no further while a client does not read', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await using ann = await watching(parts.services, parts.session('ann').identity);
  await deliver(parts);
  const commands = await commandsOf(parts.database, async () => {
    for (let n = 0; n < 5; n += 1) await parts.services.markFeedRead(parts.session('ann'), new Date(n));
    await using other = await watching(parts.services, parts.session('ann').identity);
    await parts.services.markFeedRead(parts.session('ann'), clock.now());
    await other.unread();
  });
  // The other one has counted once.
  expect(commands.filter(({ collection }) => collection === 'newsfeedItems')).toHaveLength(1);
  expect((await ann.next()).kind).toBe('added');
  expect((await ann.unread()).unread).toEqual(exact(0));
});
