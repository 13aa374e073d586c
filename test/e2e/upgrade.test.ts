import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { latestVersion, MIGRATIONS } from '../../src/storage/migrations/registry.ts';
import { TEST_SECRET, type TestApp } from '../support/app.ts';
import { testDatabase, type TestDatabase } from '../support/engine.ts';
import { ask, feedOf, publish, upsert } from '../support/feed-api.ts';
import { watchFeed, type ShownItem } from '../support/live-clients.ts';
import { isLeftOut } from '../support/needed.ts';
import { buildCommit, hasCommit, hasNoHistory } from '../support/older-release.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { runCli, startCli } from '../support/run-cli.ts';
import { clientOf } from '../support/serving.ts';

/** From before items, publications, revisions and stamps had their shapes of today. */
const OLDER = '01d61b9';
const READERS = ['ann', 'ben', 'cid'];
const READY = /GraphQL {4}(http:\S+)\/graphql/;

type Client = Pick<TestApp, 'url' | 'wsUrl' | 'token' | 'query'>;

interface World {
  readonly database: TestDatabase;
  readonly env: Record<string, string>;
}

async function newWorld(): Promise<World> {
  const database = await testDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const dataDir = await mkdtemp(join(tmpdir(), 'fanfare-upgrade-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  return {
    database,
    env: {
      MONGODB_URI: database.uri,
      MONGODB_DB: database.name,
      REDIS_URL: inject('redisUrl'),
      DATA_DIR: dataDir,
      JWT_SECRET: TEST_SECRET,
      PORT: '0',
    },
  };
}

/** The top of all feeds, without what changes with the time or the order of deliveries alone. */
async function feeds(client: Client): Promise<Record<string, unknown>> {
  const shown = ({ action, relevancy, reasons }: ShownItem): unknown => ({ action, relevancy, reasons });
  return Object.fromEntries(
    await Promise.all(
      READERS.map(async (reader): Promise<[string, unknown]> => [
        reader,
        (await feedOf(client, reader, { first: 100 })).map(shown),
      ]),
    ),
  );
}

async function actionsOf(client: Client, reader: string): Promise<string[]> {
  return (await feedOf(client, reader, { first: 100 })).map(({ action }) => action.id);
}

async function edit(client: Client, id: string, verb: string): Promise<void> {
  const descriptor = { custom: { verb, objectType: 'post', objectId: 'post-1' } };
  await ask(
    client,
    'mutation ($id: ID!, $input: UpdateActionInput!) { updateAction(id: $id, input: $input) { id } }',
    { id, input: { descriptor } },
  );
}

async function hide(client: Client, id: string): Promise<void> {
  const admin = { sub: 'admin', roles: ['admin'] } as const;
  await ask(client, 'mutation ($id: ID!) { hideAction(id: $id) { id } }', { id }, admin);
}

/** Another name for who acted, and another label for what it was about. */
async function rename(client: Client, name: string): Promise<void> {
  await upsert(client, { members: [{ memberId: 'actor', name: `Actor, ${name}` }] });
  await ask(
    client,
    'mutation ($refId: String!, $label: String!) { renameRef(refId: $refId, label: $label) { label } }',
    { refId: 'thing', label: `Thing, ${name}` },
  );
}

/** Everything that a reader is shown of who acted and what it was about. */
async function namesOf(client: Client, reader: string): Promise<ReadonlySet<string>> {
  const items = await feedOf(client, reader, { first: 100 });
  return new Set(
    items.flatMap(({ action }) => [action.actor.name, ...action.refs.map(({ label }) => label)]),
  );
}

test.skipIf(hasNoHistory() || isLeftOut(hasCommit(OLDER)))(
  'the API of this release beside API and worker of an older one: all feeds are equal, before, between and after',
  async () => {
    const { database, env } = await newWorld();
    await using older = await buildCommit(OLDER);
    await using olderApi = startCli(['serve', '--no-worker'], env, older.main);
    await using olderWorker = startCli(['worker'], env, older.main);
    const [, olderUrl = ''] = await olderApi.stdoutHas(READY);
    const before = clientOf(olderUrl);
    await upsert(before, {
      members: [...READERS, 'actor'].map((id) => ({ memberId: id, name: id })),
      pairs: READERS.map((followerId) => ({ followerId, refId: 'actor' })),
    });
    const about = { refs: [{ id: 'thing', type: 'thing', label: 'thing' }] };
    const first = await publish(before, about);
    const second = await publish(before, about);
    await expect.poll(() => actionsOf(before, 'ann'), { timeout: PATIENCE_MS }).toEqual([second, first]);

    // The new API reads what the old release wrote, and the old worker delivers what the new API publishes.
    await using api = startCli(['serve', '--no-worker'], env);
    const [, url = ''] = await api.stdoutHas(READY);
    const now = clientOf(url);
    expect(await feeds(now)).toEqual(await feeds(before));
    await using watcher = await watchFeed('WebSocket', now, 'ann');
    const third = await publish(now, about);
    expect(await watcher.addedUntil(third)).toEqual([]);
    for (const client of [before, now])
      for (const reader of READERS)
        await expect
          .poll(() => actionsOf(client, reader), { timeout: PATIENCE_MS })
          .toEqual([third, second, first]);

    // What one changes, the other does not show as it was.
    await edit(before, second, 'edited by the older');
    expect(
      (await feedOf(now, 'ben')).find(({ action }) => action.id === second)?.action.descriptor.summary,
    ).toContain('edited by the older');
    for (const [client, name] of [
      [before, 'by the older'],
      [now, 'by the newer'],
      [before, 'by the older again'],
    ] as const) {
      await rename(client, name);
      for (const either of [before, now])
        for (const reader of READERS)
          expect(await namesOf(either, reader)).toEqual(new Set([`Actor, ${name}`, `Thing, ${name}`]));
    }
    await hide(before, first);
    expect(await actionsOf(now, 'ben')).toEqual([third, second]);
    await edit(now, third, 'edited by the newer');
    await hide(now, second);
    expect(await actionsOf(before, 'cid')).toEqual([third]);
    const between = await feeds(now);
    expect(await feeds(before)).toEqual(between);

    // The last old process ends; the workers of this release bring the rest over.
    for (const process of [olderApi, olderWorker]) process.signal('SIGTERM');
    expect((await olderWorker.result).code).toBe(0);
    expect((await olderApi.result).code).toBe(0);
    await using worker = startCli(['worker'], env);
    const schema = database.db.collection<{ _id: string; version: number }>('schema');
    await expect
      .poll(async () => (await schema.findOne({ _id: 'schema' }))?.version, { timeout: PATIENCE_MS })
      .toBe(latestVersion(MIGRATIONS));
    expect(await feeds(now)).toEqual(between);
    const copies = database.db.collection<{ refs: { label: string }[] }>('actions');
    await expect
      .poll(() => copies.distinct('refs.label'), { timeout: PATIENCE_MS })
      .toEqual(['Thing, by the older again']);
    expect((await runCli(['rebuild'], env)).code).toBe(0);
    expect(await feeds(now)).toEqual(between);
    worker.signal('SIGTERM');
    expect((await worker.result).code).toBe(0);
  },
);
