import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { letExpire } from '../support/expire.ts';
import { ask, feedOf, inAnHour, publish, rawId, upsert } from '../support/feed-api.ts';
import { watchFeed } from '../support/live-clients.ts';
import { endSnoozeAt } from '../support/snoozes.ts';

const SNOOZE = `mutation ($id: ID!, $until: DateTime!) {
  snoozeFeedItem(actionId: $id, until: $until) { actionId item { snoozedUntil isArchived } }
}`;
const SNOOZED = { filter: { snoozed: true } };

/** Ann follows who does something. */
async function published(app: TestApp): Promise<string> {
  await upsert(app, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
  const id = await publish(app);
  await app.idle();
  return id;
}

async function snooze(app: TestApp, id: string): Promise<void> {
  const until = inAnHour();
  const answer = await ask(app, SNOOZE, { id, until }, { sub: 'ann' });
  expect(answer).toEqual({
    snoozeFeedItem: { actionId: id, item: { snoozedUntil: until, isArchived: false } },
  });
}

const idsOf = async (...args: Parameters<typeof feedOf>): Promise<string[]> =>
  (await feedOf(...args)).map(({ action }) => action.id);

test('a snoozed item comes back on top, unread, with a live event', async () => {
  await using app = await startTestApp();
  const id = await published(app);
  await using watcher = await watchFeed('WebSocket', app, 'ann');
  const readUpTo = new Date();
  await ask(
    app,
    'mutation ($upTo: DateTime!) { markFeedRead(upTo: $upTo) { lastRead } }',
    { upTo: readUpTo.toISOString() },
    { sub: 'ann' },
  );
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedResync', reason: 'marks' });
  await snooze(app, id);
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedItemRemoved', actionId: id });
  const back = new Date(readUpTo.getTime() + 1);
  await endSnoozeAt(app.app, 'ann', rawId(id), back);
  expect(await watcher.next()).toMatchObject({
    __typename: 'FeedItemAdded',
    item: { relevancy: back.toISOString(), isUnread: true, action: { id } },
  });
  expect([await idsOf(app, 'ann'), await idsOf(app, 'ann', SNOOZED)]).toEqual([[id], []]);
});

/** An API whose workers are stopped, after one of them has delivered what is published meanwhile. */
async function withoutWorkers(
  work: (app: TestApp, restart: () => Promise<TestApp>) => Promise<void>,
): Promise<void> {
  await using app = await startTestApp({ worker: false });
  await work(app, () => startTestApp({ api: false, database: app.database }));
}

test('an item that comes back without a worker is in the feed, and the next worker notifies watchers', async () => {
  await withoutWorkers(async (app, restart) => {
    const id = await (async () => {
      await using _delivering = await restart();
      return await published(app);
    })();
    await using watcher = await watchFeed('WebSocket', app, 'ann');
    await snooze(app, id);
    expect(await watcher.next()).toMatchObject({ __typename: 'FeedItemRemoved', actionId: id });
    await endSnoozeAt(app.app, 'ann', rawId(id), new Date());
    await expect.poll(() => idsOf(app, 'ann')).toEqual([id]);
    await using _restarted = await restart();
    expect(await watcher.next()).toMatchObject({ __typename: 'FeedItemAdded', item: { action: { id } } });
  });
});

test('an action that expires without a worker is gone in time, and the next worker notifies watchers', async () => {
  await withoutWorkers(async (app, restart) => {
    const id = await (async () => {
      await using _delivering = await restart();
      await upsert(app, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
      const published = await publish(app, { expiresAt: inAnHour() });
      await app.idle();
      return published;
    })();
    await using watcher = await watchFeed('WebSocket', app, 'ann');
    expect(await idsOf(app, 'ann')).toEqual([id]);
    await letExpire(app.app, rawId(id));
    expect(await idsOf(app, 'ann')).toEqual([]);
    expect(await ask(app, 'query ($id: ID!) { action(id: $id) { id } }', { id }, { sub: 'ann' })).toEqual({
      action: null,
    });
    await using _restarted = await restart();
    expect(await watcher.next()).toMatchObject({ __typename: 'FeedItemRemoved', actionId: id });
  });
});
