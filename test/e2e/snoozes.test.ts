import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, feedOf, publish, upsert } from '../support/feed-api.ts';
import { watchFeed } from '../support/live-clients.ts';

const SNOOZE = `mutation ($id: ID!, $until: DateTime!) {
  snoozeFeedItem(actionId: $id, until: $until) { actionId item { snoozedUntil isArchived } }
}`;
/** Long enough for a busy machine to do in between what is to be done before. */
const SOON_MS = 8_000;
const SNOOZED = { filter: { snoozed: true } };

/** Ann follows who does something. */
async function published(app: TestApp): Promise<string> {
  await upsert(app, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
  const id = await publish(app);
  await app.idle();
  return id;
}

async function snooze(app: TestApp, id: string, ms: number): Promise<string> {
  const until = new Date(Date.now() + ms).toISOString();
  const answer = await ask(app, SNOOZE, { id, until }, { sub: 'ann' });
  expect(answer).toEqual({
    snoozeFeedItem: { actionId: id, item: { snoozedUntil: until, isArchived: false } },
  });
  return until;
}

const idsOf = async (...args: Parameters<typeof feedOf>): Promise<string[]> =>
  (await feedOf(...args)).map(({ action }) => action.id);

test('a snoozed item comes back on top, unread, with a live event', async () => {
  await using app = await startTestApp();
  const id = await published(app);
  await using watcher = await watchFeed('WebSocket', app, 'ann');
  await ask(
    app,
    'mutation ($upTo: DateTime!) { markFeedRead(upTo: $upTo) { lastRead } }',
    { upTo: new Date().toISOString() },
    { sub: 'ann' },
  );
  const until = await snooze(app, id, SOON_MS);
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedItemRemoved', actionId: id });
  expect(await watcher.next()).toMatchObject({
    __typename: 'FeedItemAdded',
    item: { relevancy: until, isUnread: true, action: { id } },
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

test('what comes back while no worker runs is in the feed, and watchers hear of it from the next worker', async () => {
  await withoutWorkers(async (app, restart) => {
    const id = await (async () => {
      await using _delivering = await restart();
      return await published(app);
    })();
    await using watcher = await watchFeed('WebSocket', app, 'ann');
    await snooze(app, id, SOON_MS);
    expect(await watcher.next()).toMatchObject({ __typename: 'FeedItemRemoved', actionId: id });
    while ((await idsOf(app, 'ann')).length === 0) await setTimeout(20);
    await using _restarted = await restart();
    expect(await watcher.next()).toMatchObject({ __typename: 'FeedItemAdded', item: { action: { id } } });
  });
});

test('what expires while no worker runs is gone at its time, and watchers hear of it from the next worker', async () => {
  await withoutWorkers(async (app, restart) => {
    const id = await (async () => {
      await using _delivering = await restart();
      await upsert(app, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
      const published = await publish(app, { expiresAt: new Date(Date.now() + SOON_MS).toISOString() });
      await app.idle();
      return published;
    })();
    await using watcher = await watchFeed('WebSocket', app, 'ann');
    while ((await idsOf(app, 'ann')).length > 0) await setTimeout(20);
    expect(await ask(app, 'query ($id: ID!) { action(id: $id) { id } }', { id }, { sub: 'ann' })).toEqual({
      action: null,
    });
    await using _restarted = await restart();
    expect(await watcher.next()).toMatchObject({ __typename: 'FeedItemRemoved', actionId: id });
  });
});
