import { expect, test } from 'vitest';
import type { FeedPage } from '../../src/core/shapes.ts';
import { startRedisProcess } from '../integration/realtime/redis-process.ts';
import { startTcpProxy, through } from '../integration/realtime/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { feedFor, type ModelReader } from '../support/model.ts';
import { referenceOf } from './kills/reference.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { someOf } from '../support/seed.ts';

const FOLLOWERS = ['ann', 'bob', 'cid'];
/** Dan follows while there is nothing to store it. */
const READERS = [...FOLLOWERS, 'dan'];
const ATTEMPTS = 2;

async function publish({ services, identity }: TestApp): Promise<string> {
  const { action } = await services.publishAction(identity('service', 'service'), {
    actorId: 'actor',
    descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } },
  });
  return action.id;
}

/** Expects what every reader gets by queries to be what the definition says: every page, the count, each item. */
async function expectFeeds({ app, services, session }: TestApp): Promise<void> {
  const reference = await referenceOf(app.database.collections, READERS);
  // Side by side: while the store is silent each of them waits for it.
  const compare = async (reader: ModelReader): Promise<void> => {
    const { userId } = reader;
    const shown: string[] = [];
    let after: string | null = null;
    for (;;) {
      const page: FeedPage = await services.readFeed(session(userId), { first: 2, after });
      shown.push(...page.edges.map(({ node }) => `${node.actionId} ${node.relevancy.toISOString()}`));
      if (!page.hasMore) break;
      after = page.end;
    }
    const expected = feedFor(reference, reader);
    expect([userId, ...shown]).toEqual([
      userId,
      ...expected.map(({ action, relevancy }) => `${action.id} ${new Date(relevancy).toISOString()}`),
    ]);
    expect(await services.countUnread(session(userId))).toEqual({ count: expected.length, isExact: true });
    for (const { id } of reference.actions) {
      const item = await services.getNewsfeedItem(session(userId), id);
      expect(item?.actionId).toBe(expected.find(({ action }) => action.id === id)?.action.id);
    }
  };
  await Promise.all(reference.readers.map(compare));
}

/** How often fan-outs have been tried in vain, by action. */
function attemptsIn(log: readonly string[]): Map<string, number> {
  const attempts = new Map<string, number>();
  for (const line of log) {
    const { msg, actionId } = JSON.parse(line) as { readonly msg: string; readonly actionId?: string };
    if (msg.startsWith('Fan-out attempt failed') && actionId !== undefined)
      attempts.set(actionId, (attempts.get(actionId) ?? 0) + 1);
  }
  return attempts;
}

/** Of the fan-outs that were tried in vain, each reason has its stack once; the other lines have it in words. */
function expectOneStackEach(log: readonly string[]): void {
  const failures = log
    .map((line) => JSON.parse(line) as FailureLine)
    .filter(({ msg }) => msg.startsWith('Fan-out attempt failed'));
  const whole = failures.flatMap(({ err }) => (err === undefined ? [] : [`${err.type}: ${err.message}`]));
  const inWords = failures.flatMap(({ reason }) => reason ?? []);
  expect(new Set(whole).size).toBe(whole.length);
  expect(inWords.length).toBe(failures.length - whole.length);
  expect(inWords.length).toBeGreaterThan(whole.length);
  for (const { attempt } of failures) expect(attempt).toBeGreaterThan(0);
}

interface FailureLine {
  readonly msg: string;
  readonly attempt?: number;
  readonly err?: { readonly type: string; readonly message: string };
  readonly reason?: string;
}

async function readsWithoutStore(app: TestApp): Promise<number> {
  return Number(/^fanfare_feed_reads_without_store_total (\d+)$/m.exec(await app.figures())?.[1]);
}

/** Waits until all is read from where it is stored: a store that only answers too late is left out now and then. */
async function readsFromStore(app: TestApp): Promise<void> {
  let reads: number;
  do {
    reads = await readsWithoutStore(app);
    await expectFeeds(app);
  } while ((await readsWithoutStore(app)) > reads);
}

test.each(someOf(['killed', 'cut off', 'silent'] as const, 1))(
  'while the Redis with the feeds is %s they are read from the actions and no fan-out fails; afterwards all is delivered',
  async (way) => {
    await using redis = await startRedisProcess();
    await using proxy = await startTcpProxy(() => redis.url);
    const leave = { killed: () => redis.kill(), 'cut off': proxy.cut, silent: proxy.freeze };
    const come = { killed: () => redis.restart(), 'cut off': proxy.heal, silent: proxy.heal };
    await using app = await startTestApp({
      env: {
        REDIS_URL: through(redis.url, proxy),
        FEED_MODEL: 'redis',
        FAN_OUT_ATTEMPTS: String(ATTEMPTS),
        POLL_INTERVAL: '20ms',
      },
    });
    const { services, session, identity } = app;
    await services.followMany(
      identity('service', 'service'),
      FOLLOWERS.map((followerId) => ({ followerId, refId: 'actor' })),
    );
    const before: string[] = [];
    for (let n = 0; n < 5; n += 1) before.push(await publish(app));
    await app.idle();
    // The first read has each feed made; from then on it is read from Redis.
    await expectFeeds(app);
    await app.idle();
    await readsFromStore(app);

    const readsBefore = await readsWithoutStore(app);
    await leave[way]();
    const [bumped = '', deleted = ''] = before;
    const fresh = [await publish(app), await publish(app)];
    await services.addInteraction(session('bob', 'admin'), {
      ...{ actionId: bumped, kind: 'COMMENT' },
    });
    await services.deleteAction(session('admin', 'admin'), deleted);
    await services.rebuildFeed(identity('admin', 'admin'), 'cid');
    const follow = (): Promise<unknown> => services.follow(session('dan'), 'actor', 100);
    await expect(follow()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expectFeeds(app);
    expect(await readsWithoutStore(app)).toBeGreaterThan(readsBefore);
    const open = [...fresh, bumped, deleted];
    await expect
      .poll(() => open.every((id) => (attemptsIn(app.log).get(id) ?? 0) > ATTEMPTS), { timeout: PATIENCE_MS })
      .toBe(true);
    expectOneStackEach(app.log);
    expect(await app.app.openFanOuts()).toBe(open.length);
    expect(await app.app.openRebuilds()).toBe(1);
    await expectFeeds(app);

    await come[way]();
    await app.idle();
    await follow();
    const found = await app.app.database.collections.actions.find().toArray();
    for (const { fanOut } of found) expect(fanOut).toMatchObject({ state: 'DONE', attempts: 1, error: null });
    // Whether Redis has kept the feeds or lost them: once they have been read they are there again.
    await expectFeeds(app);
    await app.idle();
    await readsFromStore(app);
    for (const reader of READERS) expect((await services.readFeed(session(reader), {})).state).toBe('READY');
  },
);
