import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFeedClient, FeedClientError, type FeedClient } from '@fanfare/client';
import { operationsOf } from '@fanfare/client/operations';
import { feedItemFields, operationsOf as operationsOfHooks } from '@fanfare/react/server';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MUTATION_NAMES, mutationsOf } from '../../packages/client/src/mutations.ts';
import * as documents from '../../packages/react/src/documents.ts';
import * as moreDocuments from '../../packages/react/src/more-documents.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startWatch } from '../support/client-watches.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { uniqueName } from '../support/unique-name.ts';

let app: TestApp;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-operations-'));
  const path = join(folder, 'operations.json');
  await writeFile(path, JSON.stringify({ ...(await operationsOf()), ...(await operationsOfHooks()) }));
  app = await startTestApp({
    env: { POLL_INTERVAL: '100ms', PERSISTED_OPERATIONS: path, PERSISTED_OPERATIONS_ONLY: 'on' },
  });
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function clientOf(reader: string, more: object = {}): Promise<FeedClient> {
  const token = await app.token(reader);
  return createFeedClient({ url: `${app.url}/graphql`, token, webSocket: WebSocket, ...more });
}

async function codeOf(asking: Promise<unknown>): Promise<string> {
  try {
    await asking;
    return 'OK';
  } catch (error) {
    if (!(error instanceof FeedClientError)) throw error;
    return error.code;
  }
}

test.each(['websocket', 'sse'] as const)(
  'a client reads and watches by %s if only listed operations are allowed',
  async (transport) => {
    const [reader, actor] = [uniqueName('reader'), uniqueName('actor')];
    await upsert(app, { pairs: [{ followerId: reader, refId: actor }] });
    for (const fields of [undefined, feedItemFields]) {
      const client = await clientOf(reader, { transport, ...(fields === undefined ? {} : { fields }) });
      for (const total of [false, true])
        expect(await client.feed({ first: 5, total })).toHaveProperty('edges');
      for (const unread of [false, true]) {
        await using watch = startWatch(client, { unread });
        await watch.until(({ states }) => states.includes('live'));
        const published = await publish(app, { actorId: actor });
        await watch.until((one) => one.added().includes(published));
      }
    }
  },
);

test('its mutations are allowed with and without optional variables', async () => {
  const client = await clientOf(uniqueName('reader'));
  expect(await client.mutations.follow({ refId: 'site' })).toMatchObject({ isFollowed: true });
  expect(await client.mutations.follow({ refId: 'site', copyLimit: 0 })).toMatchObject({ isFollowed: true });
  const until = new Date(Date.now() + 3_600_000).toISOString();
  expect(await client.mutations.addMute({ target: { phrase: 'well done' } })).toHaveProperty('unreadCount');
  expect(await client.mutations.addMute({ target: { phrase: 'well done' }, until })).toHaveProperty(
    'unreadCount',
  );
  // Of all of them it is enough that they get as far as their arguments.
  for (const name of MUTATION_NAMES) {
    const mutation = client.mutations[name] as (variables: object) => Promise<unknown>;
    for (const document of mutationsOf(name)) {
      const given: Record<string, string> = {};
      for (const [, argument = ''] of document.matchAll(/\$(\w+):/g)) given[argument] = 'no such';
      expect([name, given, await codeOf(mutation(given))]).not.toContain('FORBIDDEN');
    }
  }
});

test('exactly the documents of the hooks are allowed', async () => {
  const client = await clientOf(uniqueName('reader'));
  for (const of of [...Object.values(documents), ...Object.values(moreDocuments)])
    expect(await codeOf(client.request(typeof of === 'string' ? of : of({})))).not.toBe('FORBIDDEN');
  expect(await codeOf(client.request('{ viewer { memberId } }'))).toBe('FORBIDDEN');
  const other = await clientOf(uniqueName('reader'), { fields: 'id' });
  expect(await codeOf(other.feed())).toBe('FORBIDDEN');
  const withOther = await operationsOf('id', ['{ viewer { memberId } }']);
  expect(Object.values(withOther)).toContain('{ viewer { memberId } }');
});
