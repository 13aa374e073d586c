import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createFeedClient, FeedClientError } from '@fanfare/client';
import { WebSocket } from 'ws';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { CLIENT_TRANSPORTS, clientOf, isLive, startWatch } from '../support/client-watches.ts';
import { ask, feedOf, publish, upsert } from '../support/feed-api.ts';
import { uniqueName } from '../support/unique-name.ts';
import { PATIENCE_MS } from '../support/patience.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());
afterEach(() => {
  vi.unstubAllGlobals();
});

async function settle(): Promise<{ reader: string; actor: string }> {
  const [reader, actor] = [uniqueName('reader'), uniqueName('actor')];
  await upsert(app, { pairs: [{ followerId: reader, refId: actor }] });
  return { reader, actor };
}

const nothingOpen = (): Promise<unknown> =>
  vi.waitUntil(
    () => {
      const { subscriptions, sockets } = app.app.http?.stats() ?? {};
      return subscriptions === 0 && sockets === 0;
    },
    { timeout: PATIENCE_MS },
  );

describe.each(CLIENT_TRANSPORTS)('a watch by %s', (transport) => {
  test('reports additions, boosts and removals, and on request the unread count', async () => {
    const { reader, actor } = await settle();
    const client = await clientOf(app, reader, { transport });
    await using watch = startWatch(client, { unread: true });
    await watch.until(isLive);
    const id = await publish(app, { actorId: actor, mentions: [reader] });
    await watch.until(({ events }) => events.length === 2);
    expect(watch.events[0]).toEqual({
      __typename: 'FeedItemAdded',
      cursor: expect.any(String),
      item: (await client.feed()).edges[0]?.node,
    });
    expect(watch.events[1]).toMatchObject({
      __typename: 'UnreadCountChanged',
      unread: { count: 1, isExact: true },
    });
    await ask(
      app,
      'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { action { id } } }',
      {
        input: { actionId: id, kind: 'COMMENT', actorId: actor },
      },
    );
    await watch.until(({ events }) => events.some(({ __typename }) => __typename === 'FeedItemUpdated'));
    await ask(
      app,
      'mutation ($id: ID!) { hideFeedItem(actionId: $id) { actionId } }',
      { id },
      { sub: reader },
    );
    await watch.until(({ events }) => events.some(({ __typename }) => __typename === 'FeedItemRemoved'));
    const [item] = watch.events.flatMap((event) => ('item' in event ? [event.item] : []));
    expect(watch.events.find(({ __typename }) => __typename === 'FeedItemRemoved')).toMatchObject({
      itemId: item?.id,
      actionId: id,
    });
  });

  test('delivers only what passes its filter', async () => {
    const { reader, actor } = await settle();
    const client = await clientOf(app, reader, { transport });
    await using watch = startWatch(client, { filter: { tags: ['hot'] } });
    await watch.until(isLive);
    await publish(app, { actorId: actor });
    await app.idle();
    const custom = { verb: 'posted', objectType: 'post', objectId: 'p', tags: ['hot'] };
    const hot = await publish(app, { actorId: actor, descriptor: { custom } });
    await watch.until(({ events }) => events.length === 1);
    expect(watch.added()).toEqual([hot]);
  });

  test('ends with BAD_USER_INPUT at an invalid filter, and says what is wrong', async () => {
    const watch = startWatch(await clientOf(app, 'reader', { transport }), { filter: { tags: [''] } });
    const error = await watch.ended;
    expect(error).toBeInstanceOf(FeedClientError);
    expect(error).toMatchObject({
      code: 'BAD_USER_INPUT',
      isTemporary: false,
      extensions: { issues: [{ path: ['filter', 'tags', 0] }] },
    });
    await nothingOpen();
  });

  test('ends when a second token in a row is refused', async () => {
    let asked = 0;
    const token = (): string => `nonsense-${String((asked += 1))}`;
    const watch = startWatch(await clientOf(app, 'reader', { transport, token }));
    expect(await watch.ended).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(asked).toBe(2);
    await nothingOpen();
  });

  test('ends with the error of its callback, and closes its connection', async () => {
    const { reader, actor } = await settle();
    const error = new Error('Mine');
    const watch = startWatch(await clientOf(app, reader, { transport }), {
      onEvent: () => {
        throw error;
      },
    });
    await watch.until(isLive);
    await publish(app, { actorId: actor });
    expect(await watch.ended).toBe(error);
    await nothingOpen();
  });

  test('ends after the given number of attempts', async () => {
    const client = await clientOf({ ...app, url: 'http://127.0.0.1:1' }, 'reader', { transport, retries: 2 });
    const watch = startWatch(client);
    expect(await watch.ended).toMatchObject({ code: 'NETWORK', isTemporary: true });
    expect(watch.states.filter((state) => state === 'connecting').length).toBe(3);
  });

  test('delivers the selected fields', async () => {
    const { reader, actor } = await settle();
    const client = createFeedClient<{ readonly action: { readonly id: string } }>({
      ...{ url: `${app.url}/graphql`, token: await app.token(reader), transport, webSocket: WebSocket },
      fields: 'action { id }',
    });
    const abort = new AbortController();
    const items: object[] = [];
    let id = '';
    await client.watch({
      signal: abort.signal,
      async onResync() {
        id = await publish(app, { actorId: actor });
      },
      onEvent(event) {
        if ('item' in event) items.push(event.item);
        abort.abort();
      },
    });
    expect(items).toEqual([{ action: { id } }]);
    expect((await client.feed()).edges.map(({ node }) => node)).toEqual(items);
  });
});

test('watches share one socket, which closes with the last of them', async () => {
  const { reader, actor } = await settle();
  const client = await clientOf(app, reader);
  await using all = startWatch(client);
  await using filtered = startWatch(client, { filter: { tags: ['hot'] } });
  const left = startWatch(client, { unread: true });
  for (const watch of [all, filtered, left]) await watch.until(isLive);
  expect(app.app.http?.stats()).toMatchObject({ sockets: 1, subscriptions: 3 });
  await left[Symbol.asyncDispose]();
  const id = await publish(app, { actorId: actor });
  await all.until(({ events }) => events.length === 1);
  expect([all.added(), filtered.added(), left.added()]).toEqual([[id], [], []]);
  all.abort();
  filtered.abort();
  await nothingOpen();
});

test('a watch from the cursor of a page delivers what the page lacks', async () => {
  const { reader, actor } = await settle();
  const client = await clientOf(app, reader);
  const { liveCursor } = await client.feed();
  const id = await publish(app, { actorId: actor });
  await app.idle();
  await using watch = startWatch(client, { after: liveCursor });
  await watch.until(({ events }) => events.length > 0);
  expect(watch.added()).toEqual([id]);
});

test('mutations change what a reader may change, and return the new state', async () => {
  const { reader, actor } = await settle();
  const { mutations, feed } = await clientOf(app, reader);
  const actionId = await publish(app, { actorId: actor });
  await app.idle();
  const input = { actionId, kind: 'LIKE' } as const;
  expect((await mutations.addInteraction({ input })).action).toMatchObject({
    engagement: { likes: 1 },
    viewer: { hasLiked: true },
  });
  const undone = await mutations.removeInteraction({ input: { own: input } });
  expect(undone.action).toMatchObject({ engagement: { likes: 0 }, viewer: { hasLiked: false } });
  expect(await mutations.bookmark({ actionId })).toMatchObject({ viewer: { isBookmarked: true } });
  expect(await mutations.unfollow({ refId: actor })).toMatchObject({ isFollowed: false });
  await mutations.archiveFeedItem({ actionId });
  expect((await feed()).edges).toEqual([]);
  expect(await mutations.blockMember({ memberId: actor })).toEqual({ memberId: reader });
  await expect(mutations.report({ actionId, reason: 'spam' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await mutations.unblockMember({ memberId: actor });
  expect(await mutations.report({ actionId, reason: 'spam' })).toMatchObject({ state: 'OPEN' });
  const hours = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' };
  expect(await mutations.setQuietHours(hours)).toEqual({ quietHours: { ...hours, days: null } });
  expect(await mutations.setQuietHours({})).toEqual({ quietHours: null });
  const off = { kind: 'LIKE', channel: 'IN_APP', isOn: false } as const;
  const { notificationPreferences } = await mutations.setNotificationPreferences({ preferences: [off] });
  expect(notificationPreferences).toContainEqual({ ...off, type: null, isLocked: false });
  await expect(mutations.bookmark({ actionId: 'none' })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('notifications are marked as seen and as read', async () => {
  const { reader, actor } = await settle();
  const client = await clientOf(app, reader);
  await publish(app, { actorId: actor, mentions: [reader] });
  await app.idle();
  const { edges, unseen, unread } = await client.notifications();
  const [edge] = edges;
  expect([edges.length, unseen.count, unread.count, edge?.node.kind]).toEqual([1, 1, 1, 'MENTION']);
  expect(await client.mutations.markNotificationsSeen({ upTo: edge?.node.at ?? '' })).toEqual({
    memberId: reader,
  });
  expect(await client.notifications()).toMatchObject({ unseen: { count: 0 }, unread: { count: 1 } });
  await client.mutations.markNotificationsRead({ ids: [edge?.node.id ?? ''] });
  expect((await client.notifications({ filter: { unreadOnly: true } })).edges).toEqual([]);
});

describe('a query of the feed', () => {
  test('returns page after page as the API does', async () => {
    const { reader, actor } = await settle();
    for (let n = 0; n < 3; n += 1) await publish(app, { actorId: actor });
    await app.idle();
    const client = await clientOf(app, reader);
    const first = await client.feed({ first: 2 });
    expect(first).toMatchObject({
      pageInfo: { hasNextPage: true },
      unread: { count: 3, isExact: true },
      state: 'READY',
    });
    const second = await client.feed({ first: 2, after: first.pageInfo.endCursor ?? '', order: 'RELEVANCY' });
    expect(second.pageInfo.hasNextPage).toBe(false);
    const ids = [...first.edges, ...second.edges].map(({ node }) => node.id);
    expect(ids).toEqual((await feedOf(app, reader)).map(({ id }) => id));
    expect((await client.feed({ filter: { types: ['ApplicationRating'] } })).edges).toEqual([]);
  });

  test('requests a new token once if one was refused', async () => {
    const fresh = await app.token('reader');
    const asked: (string | undefined)[] = [];
    const client = await clientOf(app, 'reader', {
      token: (refused) => {
        asked.push(refused);
        return refused === undefined ? 'nonsense' : fresh;
      },
    });
    expect((await client.feed()).edges).toEqual([]);
    expect(asked).toEqual([undefined, 'nonsense']);
    const fixed = await clientOf(app, 'reader', { token: 'nonsense' });
    await expect(fixed.feed()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test.each([
    ['a page size out of range', { first: 0 }, 'BAD_USER_INPUT'],
    ['a cursor that is none', { after: 'x' }, 'BAD_CURSOR'],
  ])('rejects with the code for %s', async (_what, query, code) => {
    await expect((await clientOf(app, 'reader')).feed(query)).rejects.toMatchObject({ code });
  });

  test('rejects with NETWORK if no server responds', async () => {
    const client = await clientOf({ ...app, url: 'http://127.0.0.1:1' }, 'reader');
    await expect(client.feed()).rejects.toMatchObject({ code: 'NETWORK' });
  });
});

describe('an address without Fanfare', () => {
  test.each([
    [200, 'PROTOCOL'],
    [404, 'PROTOCOL'],
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN'],
    [429, 'RATE_LIMITED'],
    [502, 'UNAVAILABLE'],
  ])('that answers %i with a page is %s', async (status, code) => {
    const server = createServer((_req, res) => {
      res.writeHead(status, { 'content-type': 'text/html' }).end('<html></html>');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
      const client = await clientOf({ ...app, url }, 'reader', { transport: 'sse', retries: 0 });
      expect(await startWatch(client).ended).toMatchObject({ code });
      await expect(client.feed()).rejects.toMatchObject({ code });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  test('that is not a URL throws at once', () => {
    expect(() => createFeedClient({ url: '/graphql', token: 't' })).toThrow(TypeError);
  });

  test('may be relative to the page in a browser', async () => {
    vi.stubGlobal('location', { href: `${app.url}/some/page` });
    const client = createFeedClient({ url: '/graphql', token: await app.token('reader') });
    expect((await client.feed()).edges).toEqual([]);
  });
});

test('says what to do without a WebSocket', async () => {
  vi.stubGlobal('WebSocket', undefined);
  const client = createFeedClient({ url: `${app.url}/graphql`, token: 't' });
  await expect(client.watch({ onEvent: () => undefined, onResync: () => undefined })).rejects.toMatchObject({
    code: 'PROTOCOL',
    message: expect.stringMatching(/give `webSocket`/),
  });
});
