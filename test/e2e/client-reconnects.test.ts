import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Closer } from '../../src/lib/closer.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { openClientScene } from '../support/client-scene.ts';
import {
  CLIENT_TRANSPORTS,
  clientOf,
  isLive,
  startNotificationWatch,
  startWatch,
} from '../support/client-watches.ts';
import { ask, publish } from '../support/feed-api.ts';
import { startTestHttp } from '../support/http.ts';
import { signTestToken } from '../support/tokens.ts';
import { uniqueName } from '../support/unique-name.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const LOG_LENGTH = 20;
const COMMENT = 'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { isReplay } }';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { LIVE_EVENTS: String(LOG_LENGTH) } });
});
afterAll(async () => app[Symbol.asyncDispose]());

const subscriptions = (): number | undefined => app.app.http?.stats().subscriptions;

describe.each(CLIENT_TRANSPORTS)('by %s', (transport) => {
  test('every event arrives once and in order, however often the connection breaks', async () => {
    await using crowd = new Closer();
    const { reader, wire, url, publishMany } = await openClientScene(app, crowd);
    const watch = crowd.own(startWatch(await clientOf({ ...app, url }, reader, { transport })));
    await watch.until(isLive);
    const published: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      published.push(...(await publishMany(2)));
      // Cut while some may be under way; then more come while nobody listens.
      wire.cut();
      published.push(...(await publishMany(3)));
      wire.heal();
      published.push(...(await publishMany(2)));
      await watch.until(({ events }) => events.length >= published.length);
    }
    expect(watch.added()).toEqual(published);
    expect(watch.resyncs).toEqual(['opened']);
    expect(watch.states.filter((state) => state.startsWith('waiting')).length).toBeGreaterThanOrEqual(4);
  });

  test('notifications resume as a feed does, and resync if more was missed than the server keeps', async () => {
    await using crowd = new Closer();
    const { reader, wire, url } = await openClientScene(app, crowd);
    const posts: string[] = [];
    for (let n = 0; n < 6; n += 1) posts.push(await publish(app, { actorId: reader, scope: 'PUBLIC' }));
    await app.idle();
    const comment = async (actionId = '', sub = uniqueName('commenter')): Promise<void> => {
      const input = { actionId, kind: 'COMMENT', text: 'Well' };
      await ask(app, COMMENT, { input }, { sub });
    };
    const client = await clientOf({ ...app, url }, reader, { transport });
    const pages: (string | undefined)[][] = [];
    const watch = crowd.own(
      startNotificationWatch(client, {
        unread: true,
        async onResync() {
          const { edges } = await client.notifications({ first: 10 });
          pages.push(edges.map(({ node }) => node.action?.id));
        },
      }),
    );
    await watch.until(isLive);
    await comment(posts[0]);
    await watch.until(() => watch.added().length === 1);
    wire.cut();
    for (const post of posts.slice(1, 4)) await comment(post);
    wire.heal();
    await watch.until(() => watch.added().length === 4);
    expect(watch.added()).toEqual(posts.slice(0, 4));
    expect(watch.resyncs).toEqual(['opened']);
    await watch.until(({ events }) =>
      events.some((event) => event.__typename === 'NotificationCountsChanged' && event.unseen.count === 4),
    );
    wire.cut();
    for (let n = 0; n < LOG_LENGTH + 5; n += 1) await comment(posts[4]);
    wire.heal();
    await watch.until(({ resyncs }) => resyncs.length === 2);
    expect(watch.resyncs).toEqual(['opened', 'window-passed']);
    expect(pages.at(-1)).toEqual(posts.slice(0, 5).toReversed());
    await comment(posts[5]);
    await watch.until(() => watch.added().includes(posts[5] ?? ''));
  });

  test('a break in the middle of a burst loses and repeats nothing', async () => {
    await using crowd = new Closer();
    const { reader, wire, url, publishMany } = await openClientScene(app, crowd);
    const whole = crowd.own(startWatch(await clientOf(app, reader, { transport })));
    const cut = crowd.own(startWatch(await clientOf({ ...app, url }, reader, { transport })));
    await whole.until(isLive);
    await cut.until(isLive);
    const publishing = publishMany(15);
    for (const seen of [3, 7, 11]) {
      await cut.until(({ events }) => events.length >= seen);
      wire.cut();
      wire.heal();
    }
    const published = await publishing;
    await whole.until(({ events }) => events.length >= published.length);
    await cut.until(({ events }) => events.length >= published.length);
    expect(cut.events).toEqual(whole.events);
    expect(cut.added()).toEqual(published);
  });

  test('a cursor from an earlier visit delivers the events since', async () => {
    await using crowd = new Closer();
    const { reader, publishMany } = await openClientScene(app, crowd);
    const client = await clientOf(app, reader, { transport });
    const first = crowd.own(startWatch(client));
    await first.until(isLive);
    await publishMany(1);
    await first.until(({ events }) => events.length === 1);
    const after = first.events[0]?.cursor ?? '';
    first.abort();
    const missed = await publishMany(2);
    const second = crowd.own(startWatch(client, { after }));
    await second.until(({ events }) => events.length === 2);
    expect(second.added()).toEqual(missed);
    expect(second.resyncs).toEqual([]);
  });

  test('resyncs if more was missed than the server keeps, and continues from there', async () => {
    await using crowd = new Closer();
    const { reader, wire, url, publishMany } = await openClientScene(app, crowd);
    const client = await clientOf({ ...app, url }, reader, { transport });
    const pages: string[][] = [];
    const watch = crowd.own(
      startWatch(client, {
        async onResync() {
          const { edges } = await client.feed({ first: 100 });
          pages.push(edges.map(({ node }) => node.action.id));
        },
      }),
    );
    await watch.until(({ resyncs }) => resyncs.length === 1);
    wire.cut();
    const missed = await publishMany(LOG_LENGTH + 5);
    wire.heal();
    await watch.until(({ resyncs }) => resyncs.length === 2);
    expect(watch.resyncs).toEqual(['opened', 'window-passed']);
    expect(pages).toEqual([[], missed.toReversed()]);
    const next = await publishMany(1);
    await watch.until(({ events }) => events.length === 1);
    expect(watch.added()).toEqual(next);
  });

  test('repeats a query of the feed that failed with the connection', async () => {
    await using crowd = new Closer();
    const { reader, wire, url, publishMany } = await openClientScene(app, crowd);
    const [id] = await publishMany(1);
    const client = await clientOf({ ...app, url }, reader, { transport });
    let attempts = 0;
    const pages: (string | undefined)[] = [];
    const watch = crowd.own(
      startWatch(client, {
        async onResync() {
          attempts += 1;
          if (attempts === 1) wire.cut();
          try {
            const { edges } = await client.feed();
            pages.push(edges[0]?.node.action.id);
          } finally {
            wire.heal();
          }
        },
      }),
    );
    await watch.until(({ resyncs }) => resyncs.length === 1);
    expect({ attempts, pages }).toEqual({ attempts: 2, pages: [id] });
  });

  test('leaves a stopping server for its successor', async () => {
    await using crowd = new Closer();
    const first = await startTestHttp(app);
    let { port } = first;
    const { reader, url, publishMany } = await openClientScene(app, crowd, () => port);
    const watch = crowd.own(startWatch(await clientOf({ ...app, url }, reader, { transport })));
    await watch.until(isLive);
    const published = await publishMany(1);
    const second = crowd.own(await startTestHttp(app));
    ({ port } = second);
    await first.close();
    published.push(...(await publishMany(2)));
    await watch.until(({ events }) => events.length === 3);
    expect(watch.added()).toEqual(published);
    expect(watch.resyncs).toEqual(['opened']);
    if (transport === 'websocket') expect(watch.states.join()).toContain('1001 Going away');
  });

  test('leaves a connection that died silently', async () => {
    await using crowd = new Closer();
    const { reader, wire, url, publishMany } = await openClientScene(app, crowd);
    const client = await clientOf({ ...app, url }, reader, { transport, timeoutMs: 2_000 });
    const watch = crowd.own(startWatch(client));
    await watch.until(isLive);
    wire.freeze();
    const published = await publishMany(1);
    wire.heal();
    await watch.until(({ events }) => events.length === 1);
    expect(watch.added()).toEqual(published);
  });

  test('replaces an expired token by a new one, and loses nothing', async () => {
    await using crowd = new Closer();
    const { reader, publishMany } = await openClientScene(app, crowd);
    const asked: (string | undefined)[] = [];
    const short = await signTestToken({ sub: reader, exp: Math.floor(Date.now() / 1_000) + 6 });
    const fresh = await app.token(reader);
    const token = (refused?: string): string => {
      asked.push(refused);
      return refused === undefined ? short : fresh;
    };
    const watch = crowd.own(startWatch(await clientOf(app, reader, { transport, token })));
    await watch.until(({ resyncs }) => resyncs.length === 1);
    const published = await publishMany(1);
    await watch.until(() => asked.length === 2 && isLive(watch));
    published.push(...(await publishMany(1)));
    await watch.until(({ events }) => events.length === 2);
    expect(watch.added()).toEqual(published);
    expect(asked).toEqual([undefined, short]);
  });

  test('a reader with too many open subscriptions waits for a free one', async () => {
    await using narrow = await startTestApp({
      worker: false,
      env: { SUBSCRIPTIONS_PER_USER: '1' },
      database: app.database,
    });
    await using first = startWatch(await clientOf(narrow, 'greedy', { transport }));
    await first.until(isLive);
    await using second = startWatch(await clientOf(narrow, 'greedy', { transport }));
    await second.until(({ states }) => states.join().includes('Too many open subscriptions'));
    first.abort();
    await second.until(isLive);
  });

  test('the end of a watch ends its subscription, whatever it was doing', async () => {
    await using crowd = new Closer();
    const { reader, wire, url, publishMany } = await openClientScene(app, crowd);
    const client = await clientOf({ ...app, url }, reader, { transport });
    for (const moment of ['at once', 'live', 'in a callback', 'waiting']) {
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const seen: string[] = [];
      const watch = startWatch(client, {
        async onEvent({ cursor }) {
          seen.push(cursor);
          await held;
        },
      });
      if (moment !== 'at once') await watch.until(({ resyncs }) => resyncs.length === 1);
      if (moment === 'in a callback') {
        await publishMany(2);
        await vi.waitUntil(() => seen.length === 1, { timeout: PATIENCE_MS });
      }
      if (moment === 'waiting') {
        wire.cut();
        await watch.until(({ states }) => states.at(-1)?.startsWith('waiting') === true);
      }
      watch.abort();
      await vi.waitUntil(() => subscriptions() === 0 && app.app.http?.stats().sockets === 0, {
        timeout: PATIENCE_MS,
      });
      release();
      expect([moment, await watch.ended]).toEqual([moment, null]);
      expect(seen.length).toBe(moment === 'in a callback' ? 1 : 0);
    }
  });
});
