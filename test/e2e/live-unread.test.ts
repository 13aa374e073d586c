import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { watchFeed, type FeedWatcher } from '../support/live-clients.ts';
import { uniqueName } from '../support/unique-name.ts';

let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  other = await startTestApp({ worker: false, database: app.database });
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await app[Symbol.asyncDispose]();
});

async function queried(sub: string): Promise<unknown> {
  const { viewer } = await ask<{ viewer: { unreadCount: unknown } }>(
    app,
    '{ viewer { unreadCount { count isExact } } }',
    {},
    { sub },
  );
  return viewer.unreadCount;
}

/** The next count that is sent, past whatever else comes. */
async function notifiedBy(watcher: FeedWatcher): Promise<unknown> {
  for (;;) {
    const event = await watcher.next();
    if (event.__typename === 'UnreadCountChanged') return event.unread;
  }
}

test('the unread count is sent when it changes, to tabs at any process', async () => {
  const [reader, actor] = [uniqueName('reader'), uniqueName('actor')];
  await upsert(app, { pairs: [{ followerId: reader, refId: actor }] });
  await using here = await watchFeed('WebSocket', app, reader, { unread: true });
  await using there = await watchFeed('WebSocket', other, reader, { unread: true });
  const tabs = [here, there];
  await publish(app, { actorId: actor });
  for (const tab of tabs) expect(await notifiedBy(tab)).toEqual({ count: 1, isExact: true });
  await ask(
    app,
    'mutation ($memberId: String!) { addMute(target: { memberId: $memberId }) { memberId } }',
    { memberId: actor },
    { sub: reader },
  );
  for (const tab of tabs) expect(await notifiedBy(tab)).toEqual(await queried(reader));
  await ask(
    other,
    'mutation ($memberId: String!) { removeMute(target: { memberId: $memberId }) { memberId } }',
    { memberId: actor },
    { sub: reader },
  );
  for (const tab of tabs) expect(await notifiedBy(tab)).toEqual({ count: 1, isExact: true });
  await ask(
    other,
    'mutation ($upTo: DateTime!) { markFeedRead(upTo: $upTo) { lastRead } }',
    { upTo: new Date().toISOString() },
    { sub: reader },
  );
  for (const tab of tabs) expect(await notifiedBy(tab)).toEqual({ count: 0, isExact: true });
  expect(await queried(reader)).toEqual({ count: 0, isExact: true });
});

test('a watcher that comes back gets the count that changed meanwhile', async () => {
  const [reader, actor] = [uniqueName('reader'), uniqueName('actor')];
  await upsert(app, { pairs: [{ followerId: reader, refId: actor }] });
  const first = await watchFeed('WebSocket', app, reader, { unread: true });
  await publish(app, { actorId: actor });
  const { cursor } = await first.next();
  await first[Symbol.asyncDispose]();
  await ask(
    app,
    'mutation ($upTo: DateTime!) { markFeedRead(upTo: $upTo) { lastRead } }',
    { upTo: new Date().toISOString() },
    { sub: reader },
  );
  await using again = await watchFeed('WebSocket', other, reader, { unread: true, after: cursor });
  expect(await again.next()).toMatchObject({ __typename: 'FeedResync', reason: 'marks' });
  expect(await again.next()).toMatchObject({
    __typename: 'UnreadCountChanged',
    unread: { count: 0, isExact: true },
  });
});
