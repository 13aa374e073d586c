import { expect, inject, test } from 'vitest';
import { erasuresRepository } from '../../src/features/erasure/store/erasures.ts';
import { connectRedis } from '../../src/connections/redis.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { placesOf } from '../support/erasure.ts';
import { ask, feedOf, publish, upsert } from '../support/feed-api.ts';
import { watchFeed } from '../support/live-clients.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const ID = 'zq-e2e-51c7';
const NAME = 'Zebulon Quux';
const ADMIN = { sub: 'root', roles: ['admin'] } as const;

async function redisKeys(app: TestApp): Promise<string[]> {
  await using redis = await connectRedis({ url: inject('redisUrl') });
  const keys = await redis.commands.keys(`*${app.database}:*`);
  const watched = keys.filter((key) => key.endsWith('live:watched'));
  const members = await Promise.all(watched.map((key) => redis.commands.zrange(key, '0', '-1')));
  return [...keys, ...members.flat()].filter((text) => text.includes(ID));
}

/** A member with a feed, an audience and a log of live events. */
async function settle(app: TestApp): Promise<string> {
  await upsert(app, {
    members: [{ memberId: ID, name: NAME }],
    pairs: [
      { followerId: 'ann', refId: ID },
      { followerId: ID, refId: 'actor' },
    ],
  });
  const id = await publish(app, {
    actorId: ID,
    descriptor: { posted: { postId: 'p', text: `Words of ${NAME}` } },
  });
  await publish(app);
  await app.idle();
  return id;
}

const ACTOR = 'query ($id: ID!) { action(id: $id) { actor { memberId name } descriptor { summary } } }';

test("erases a member through the API: from the databases, the live logs and others' views", async () => {
  await using app = await startTestApp();
  const id = await settle(app);
  {
    await using watcher = await watchFeed('SSE', app, ID);
    await publish(app);
    expect(await watcher.next()).toMatchObject({ __typename: 'FeedItemAdded' });
  }
  expect((await redisKeys(app)).length).toBeGreaterThan(0);
  const erased = await ask(app, 'mutation ($id: String!) { eraseMember(memberId: $id) }', { id: ID }, ADMIN);
  expect(erased).toEqual({ eraseMember: true });
  expect(await redisKeys(app)).toEqual([]);
  const { erasure } = await ask<{ erasure: object }>(
    app,
    'query ($id: String!) { erasure(memberId: $id) { state requestedBy startedAt finishedAt step changed } }',
    { id: ID },
    ADMIN,
  );
  expect(erasure).toMatchObject({ state: 'CONFIRMING', requestedBy: 'root', step: null, finishedAt: null });
  // Until the second look the record of the erasure itself is the one place that knows whom it is for.
  const places = await placesOf(app.app.database, ID, NAME);
  expect(places.map((place) => place.split(':')[0])).toEqual(['erasures']);
  expect((await feedOf(app, 'ann')).length).toBe(1);
  const { action } = await ask<{ action: object }>(app, ACTOR, { id }, { sub: 'ann' });
  expect(action).toMatchObject({
    actor: { memberId: expect.stringMatching(/^erased:/) as string, name: 'Former member' },
    descriptor: { summary: 'Former member posted something' },
  });
  expect(await feedOf(app, ID)).toEqual([]);
});

test('a starting worker continues an erasure', async () => {
  await using app = await startTestApp({ worker: false });
  const id = await publish(app, { actorId: ID });
  const { erasures } = app.app.database.collections;
  // As it is left by a process that was killed right after the commit.
  await erasuresRepository(erasures).begin({
    memberId: ID,
    names: [],
    pseudonym: 'erased:e2e',
    by: 'root',
    now: new Date(),
  });
  await using _worker = await startTestApp({ api: false, database: app.database });
  await expect
    .poll(async () => (await erasures.findOne())?.state, { timeout: PATIENCE_MS })
    .toBe('CONFIRMING');
  const { action } = await ask<{ action: object }>(app, ACTOR, { id }, ADMIN);
  expect(action).toMatchObject({ actor: { memberId: 'erased:e2e', name: 'Former member' } });
});

test('rejects erasures and exports without permission, and allows one export per operation', async () => {
  await using app = await startTestApp({ worker: false });
  const export_ = 'query ($id: String!) { memberExport(memberId: $id) }';
  for (const as of [{ sub: 'ann' }, { sub: 'svc', roles: ['service'] as const }]) {
    for (const document of [export_, 'mutation ($id: String!) { eraseMember(memberId: $id) }']) {
      const { errors } = await app.query(document, { id: ID }, as);
      expect(errors.map((error) => error.extensions.code)).toEqual(['FORBIDDEN']);
    }
    const { errors } = await app.query(
      'query ($id: String!) { erasure(memberId: $id) { state } }',
      { id: ID },
      as,
    );
    expect(errors.map((error) => error.extensions.code)).toEqual(['FORBIDDEN']);
  }
  const own = await ask<{ memberExport: object }>(app, export_, { id: 'ann' }, { sub: 'ann' });
  expect(own.memberExport).toMatchObject({ memberId: 'ann', member: null, actions: [] });
  const twice = await app.query(
    '{ a: memberExport(memberId: "ann") b: memberExport(memberId: "ann") }',
    {},
    { sub: 'ann' },
  );
  expect(twice.errors.map((error) => error.extensions.code)).toEqual(['BAD_USER_INPUT']);
});
