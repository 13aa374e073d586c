import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { watchFeed } from '../support/live-clients.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { uniqueName } from '../support/unique-name.ts';

const admin = { sub: 'root', roles: ['admin'] } as const;

interface Work {
  readonly lanes: readonly {
    readonly lane: string;
    readonly pending: number;
    readonly oldestSeconds: number;
  }[];
  readonly workers: number;
  readonly watchers: number;
  readonly rebuildsDue: number;
  readonly renamesDue: number;
  readonly failedFanOuts: number;
}

async function workOf(app: TestApp): Promise<Work> {
  const { work } = await ask<{ work: Work }>(
    app,
    '{ work { lanes { lane pending oldestSeconds } workers watchers rebuildsDue renamesDue failedFanOuts } }',
    {},
    admin,
  );
  return work;
}

test('shows admins the work in progress of all processes', async () => {
  // Redis remembers for a while who watched in the same database before.
  const env = { REDIS_PREFIX: uniqueName('operators:') };
  await using app = await startTestApp({ worker: false, env });
  const idle = {
    lanes: ['URGENT', 'LIVE', 'BULK'].map((lane) => ({ lane, pending: 0, oldestSeconds: 0 })),
    ...{ workers: 0, watchers: 0, rebuildsDue: 0, renamesDue: 0, failedFanOuts: 0 },
  };
  expect(await workOf(app)).toEqual(idle);
  await upsert(app, { refs: [{ id: 'site', type: 'site', label: 'Site' }] });
  const ids = [await publish(app, { mentions: ['ann'] }), await publish(app)];
  await ask(app, 'mutation ($id: ID!) { hideAction(id: $id) { id } }', { id: ids[0] }, admin);
  await ask(app, 'mutation { rebuildFeed(memberId: "ann") }', {}, admin);
  await using watcher = await watchFeed('SSE', app, 'ann');
  const busy = await workOf(app);
  expect(busy).toMatchObject({
    lanes: [
      { lane: 'URGENT', pending: 1 },
      { lane: 'LIVE', pending: 1 },
      { lane: 'BULK', pending: 0, oldestSeconds: 0 },
    ],
    ...{ workers: 0, watchers: 1, rebuildsDue: 1, renamesDue: 1, failedFanOuts: 0 },
  });
  // It waits for a worker, so that it only grows.
  await expect
    .poll(async () => (await workOf(app)).lanes[1]?.oldestSeconds, { timeout: PATIENCE_MS })
    .toBeGreaterThan(busy.lanes[1]?.oldestSeconds ?? 0);
  await using worker = await startTestApp({ api: false, database: app.database, env });
  await worker.idle();
  expect(await workOf(app)).toEqual({ ...idle, workers: 1, watchers: 1 });
  expect(watcher).toBeDefined();
});

describe('erasures', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(async () => app[Symbol.asyncDispose]());

  const LIST = `query ($first: Int, $after: String) { erasures(first: $first, after: $after) {
    edges { cursor node { memberId state requestedBy } } pageInfo { hasNextPage endCursor }
  } }`;

  interface Listed {
    readonly erasures: {
      readonly edges: readonly {
        readonly node: { readonly memberId: string | null; readonly state: string };
      }[];
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    };
  }

  test('lists erasures for admins, latest first, by id until only a hash is left', async () => {
    const members = ['a', 'b', 'c', 'd', 'e'];
    for (const memberId of members)
      await ask(app, 'mutation ($id: String!) { eraseMember(memberId: $id) }', { id: memberId }, admin);
    const listed: (string | null)[] = [];
    let after: string | null = null;
    do {
      const page: Listed = await ask(app, LIST, { first: 2, after }, admin);
      for (const { node } of page.erasures.edges) {
        expect(node).toMatchObject({ state: 'CONFIRMING', requestedBy: 'root' });
        listed.push(node.memberId);
      }
      after = page.erasures.pageInfo.hasNextPage ? page.erasures.pageInfo.endCursor : null;
    } while (after !== null);
    expect(listed).toEqual([...members].reverse());
    // Described again, a member is a new person, and the old one's id is forgotten.
    await upsert(app, { members: [{ memberId: 'c', name: 'C' }] });
    const page = await ask<Listed>(app, LIST, {}, admin);
    expect(page.erasures.edges[2]?.node).toMatchObject({ memberId: null, state: 'DONE' });
    const one = 'query ($id: String!) { erasure(memberId: $id) { memberId } }';
    expect(await ask(app, one, { id: 'b' }, admin)).toEqual({ erasure: { memberId: 'b' } });
    expect(await ask(app, one, { id: 'c' }, admin)).toEqual({ erasure: { memberId: null } });
  });

  test('rejects both for everybody else, and an invalid cursor', async () => {
    for (const roles of [['user'], ['user', 'service']] as const)
      for (const document of ['{ work { workers } }', LIST]) {
        const { errors } = await app.query(document, {}, { sub: 'somebody', roles });
        expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
      }
    const { errors } = await app.query(LIST, { after: 'x' }, admin);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_CURSOR' } }]);
  });
});
