import { COLLECTIONS } from '../../src/app/collections.ts';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { WebSocket } from 'ws';
import { createFeedClient } from '@fanfare/client';
import { checkOffloadFile } from '../../parts/archive/src/offload-file.ts';
import { runOffload, runRestore } from '../../parts/archive/src/run-offload.ts';
import { archiveOf } from '../../parts/archive/src/store/offloads.ts';
import { Closer } from '../../src/lib/closer.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { watchFeed } from '../support/live-clients.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { runCli, type CliResult } from '../support/run-cli.ts';
import { ask, inTenant, TENANT_CLAIM, tokenWith, type TenantApp } from '../support/tenants.ts';

const closer = new Closer();
let app: TestApp;
let acme: TenantApp;
let other: TenantApp;

beforeAll(async () => {
  app = closer.own(await startTestApp({ env: { TENANT_CLAIM } }));
  acme = inTenant(app, 'acme');
  other = inTenant(app, 'other');
});
afterAll(() => closer.close());

const VIEWER = { query: '{ viewer { memberId member { name } } }' };
const SERVICE = { sub: 'service', roles: ['service'] } as const;

interface Published {
  readonly publishAction: { readonly action: { readonly id: string } };
}

const PUBLISH = `mutation ($key: String!, $conducted: DateTime!) {
  publishAction(input: { actorId: "bob", idempotencyKey: $key, conducted: $conducted, scope: PUBLIC, mentions: ["ann"],
    descriptor: { posted: { postId: "p" } } }) { action { id } } }`;

/** Delivered, and their events moved: an offload leaves alone what has events that wait. */
async function settled({ idle, app }: TestApp): Promise<void> {
  await idle();
  const waiting = { unsentAt: { $exists: true } };
  await expect
    .poll(() => app.database.collections.actions.countDocuments(waiting), { timeout: PATIENCE_MS })
    .toBe(0);
}

async function publish(tenant: TenantApp, key: string, conducted = new Date()): Promise<string> {
  const { data, errors } = await tenant.query<Published>(PUBLISH, { key, conducted }, SERVICE);
  expect(errors).toEqual([]);
  return data?.publishAction.action.id ?? '';
}

describe('a token', () => {
  test.each([
    ['without the claim', { tenant: undefined }],
    ['with an empty tenant', { tenant: '' }],
    ['with a tenant in capitals', { tenant: 'Acme' }],
    ['with a tenant that is no text', { tenant: ['acme'] }],
    ['with the separator in its tenant', { tenant: 'acme\u001fann' }],
    ['with a tenant of 64 characters', { tenant: 'a'.repeat(64) }],
  ])('%s is rejected, also on a socket', async (_name, claims) => {
    const token = await tokenWith('ann', { ...claims, roles: ['admin', 'service'] });
    const { status, errors } = await ask(app.url, token, VIEWER);
    expect({ status, errors }).toMatchObject({
      status: 401,
      errors: [{ message: 'The token has no valid tenant', extensions: { code: 'UNAUTHENTICATED' } }],
    });
    expect(await closing({ authorization: `Bearer ${token}` })).toEqual([
      4403,
      'The token has no valid tenant',
    ]);
  });

  test('is valid only in its own tenant', async () => {
    const token = await tokenWith('ann', { tenant: 'acme', roles: ['admin', 'service'] });
    expect(await ask(app.url, token, VIEWER, { 'fanfare-tenant': 'acme' })).toMatchObject({ status: 200 });
    expect(await ask(app.url, token, VIEWER, { 'fanfare-tenant': 'other' })).toMatchObject({
      status: 403,
      errors: [{ message: 'To act in another tenant requires the role operator' }],
    });
  });
});

describe('an operator', () => {
  const names = (tenant: string) => ({ 'fanfare-tenant': tenant });

  test('gets no answer without a tenant', async () => {
    // Not even with a claim of their own, lest a forgotten header go by it.
    const token = await tokenWith('op', { tenant: 'acme', roles: ['operator', 'admin', 'service'] });
    for (const headers of [{}, names(''), names('Acme')])
      expect(await ask(app.url, token, VIEWER, headers)).toMatchObject({
        status: 403,
        data: null,
        errors: [
          { message: expect.stringMatching(/^An operator names a tenant by fanfare-tenant: /) as string },
        ],
      });
    expect(await closing({ authorization: `Bearer ${token}` })).toEqual([
      4403,
      expect.stringMatching(/^An operator names a tenant/),
    ]);
  });

  test('acts in the tenant of each request, with the other roles of the token', async () => {
    const token = await tokenWith('op', { roles: ['operator', 'service'] });
    const upsert = (name: string) => ({
      query: `mutation { upsertMembers(members: [{ memberId: "eve", name: "${name}" }]) }`,
    });
    for (const tenant of ['acme', 'other'])
      expect(await ask(app.url, token, upsert(`Eve of ${tenant}`), names(tenant))).toMatchObject({
        data: { upsertMembers: 1 },
      });
    const member = '{ member(memberId: "eve") { name } }';
    expect((await acme.query(member)).data).toEqual({ member: { name: 'Eve of acme' } });
    expect((await other.query(member)).data).toEqual({ member: { name: 'Eve of other' } });
    expect(await ask(app.url, token, { query: '{ work { workers } }' }, names('acme'))).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
  });
});

test('the same key can be used by the same actor of each tenant, and PUBLIC is everybody of the tenant', async () => {
  const [own, others] = [await publish(acme, 'same'), await publish(other, 'same')];
  expect(own).not.toBe(others);
  const query =
    'query ($id: ID!) { action(id: $id) { id actor { memberId } refs { refId } } slice(refId: "bob") { total { count } } }';
  // Often enough to be compiled.
  for (let times = 0; times < 20; times++) {
    expect((await acme.query(query, { id: own }, { sub: 'stranger' })).data).toEqual({
      action: { id: own, actor: { memberId: 'bob' }, refs: [] },
      slice: { total: { count: 1 } },
    });
    expect((await acme.query(query, { id: others }, { sub: 'stranger' })).data).toEqual({
      action: null,
      slice: { total: { count: 1 } },
    });
  }
});

test("a repeated page has the host's ids, and so has a live event", async () => {
  await app.idle();
  await using watching = await watchFeed('SSE', acme, 'ann');
  await using again = await watchFeed('WebSocket', acme, 'ann');
  const feed =
    '{ feed(first: 1) { edges { cursor node { id groupId action { id actor { id memberId name } descriptor { summary ... on PostedDescriptor { postId } } } } } } }';
  for (let times = 0; times < 20; times++) {
    const { text, errors } = await acme.query(feed);
    expect(errors).toEqual([]);
    expect(text).toContain('"actor":{"id":"TWVtYmVyOmJvYg==","memberId":"bob","name":"bob"}');
    expect(text).toContain('"postId":"p"');
    expect(text).not.toContain('u001f');
  }
  await publish(other, 'live');
  const published = await publish(acme, 'live');
  for (const watcher of [watching, again]) {
    const event = await watcher.next();
    expect(event).toMatchObject({
      item: { action: { id: published, actor: { memberId: 'bob', name: 'bob' } } },
    });
    expect(JSON.stringify(event)).not.toContain('u001f');
  }
});

test.each(['websocket', 'sse'] as const)(
  'an operator reads and watches with the client: %s',
  async (transport) => {
    const token = await tokenWith('ann', { roles: ['operator', 'user'] });
    const clientOf = (tenant?: string) =>
      createFeedClient({
        ...{ url: `${app.url}/graphql`, token, transport, webSocket: WebSocket, retries: 0 },
        ...(tenant === undefined ? {} : { tenant }),
      });
    const id = await publish(acme, `by-client-${transport}`);
    await app.idle();
    const idsFor = async (tenant: string) =>
      (await clientOf(tenant).feed()).edges.map(({ node }) => node.action.id);
    expect(await idsFor('acme')).toContain(id);
    expect(await idsFor('other')).not.toContain(id);
    await expect(clientOf().feed()).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const ending = new AbortController();
    let isOpen = false;
    const seen: string[] = [];
    const watching = clientOf('acme').watch({
      signal: ending.signal,
      onResync: () => {
        isOpen = true;
      },
      onEvent: (event) => {
        if (event.__typename === 'FeedItemAdded') seen.push(event.item.action.id);
      },
    });
    await expect.poll(() => isOpen, { timeout: PATIENCE_MS }).toBe(true);
    const live = await publish(acme, `by-client-${transport}-live`);
    await expect.poll(() => seen, { timeout: PATIENCE_MS }).toEqual([live]);
    ending.abort();
    await watching;
  },
);

test('a ticket opens streams only in the tenant it was made in', async () => {
  const { data } = await acme.query<{ readonly createTicket: { readonly ticket: string } }>(
    'mutation { createTicket { ticket } }',
  );
  const url = new URL('/graphql', app.url);
  url.searchParams.set('ticket', data?.createTicket.ticket ?? '');
  url.searchParams.set('query', 'subscription { feedEvents { __typename } }');
  const stream = async (tenant: string | undefined) => {
    const controller = new AbortController();
    const named = tenant === undefined ? {} : { 'fanfare-tenant': tenant };
    const headers = { accept: 'text/event-stream', ...named };
    const { status } = await fetch(url, { headers, signal: controller.signal });
    controller.abort();
    return status;
  };
  expect([await stream(undefined), await stream('acme')]).toEqual([200, 200]);
  // As with a token.
  for (const other of ['other', '', 'ACME']) expect(await stream(other), other).toBe(403);
});

test('offloaded actions of all tenants return to each, and not to a database without tenants', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-tenants-'));
  const before = new Date(Date.UTC(2024, 0, 10));
  const run = {
    core: archiveOf(app.core),
    path: join(folder, 'old.ndjson'),
    now: () => new Date(),
    onProgress: () => undefined,
  };
  const old = [acme, other].map((tenant) => publish(tenant, 'old', new Date(Date.UTC(2024, 0, 1))));
  const ids = await Promise.all(old);
  await settled(app);
  const seen = () =>
    Promise.all(
      [acme, other].map(async (tenant) => {
        const { text } = await tenant.query(
          '{ actions(first: 50) { edges { node { id } } } feed(first: 50) { edges { node { action { id } } } } }',
          {},
          { sub: 'ann', roles: ['admin'] },
        );
        return ids.map((id) => text.split(id).length - 1);
      }),
    );
  expect(await seen()).toEqual([
    [2, 0],
    [0, 2],
  ]);
  expect(await runOffload(run, { before, graceMs: 0 })).toMatchObject({ taken: 2, left: 0 });
  expect(await seen()).toEqual([
    [0, 0],
    [0, 0],
  ]);
  // Each tenant's key is remembered.
  for (const tenant of [acme, other])
    expect((await tenant.query(PUBLISH, { key: 'old', conducted: before }, SERVICE)).errors).toMatchObject([
      { extensions: { code: 'CONFLICT' } },
    ]);
  expect((await readFile(run.path, 'utf8')).split('"tenant":"acme"')).toHaveLength(2);
  const { header, ...checked } = await checkOffloadFile(run.path);
  const withoutTenants = { ...checked, header: { ...header, tenants: false } };
  await expect(runRestore(run, withoutTenants)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    message: 'The file has actions without tenants, and this database has tenants',
  });
  expect(await runRestore(run)).toMatchObject({ returned: 2 });
  await app.idle();
  expect(await seen()).toEqual([
    [2, 0],
    [0, 2],
  ]);
  await rm(folder, { recursive: true });
});

test('an older file does not restore an erased tenant, but a new tenant of that name gets its own', async () => {
  await using own = await startTestApp({ env: { TENANT_CLAIM } });
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-tenants-'));
  const before = new Date(Date.UTC(2024, 0, 10));
  const runOf = (name: string) => ({
    ...{ core: archiveOf(own.core), path: join(folder, name) },
    ...{ now: () => new Date(), onProgress: () => undefined },
  });
  const [gone, kept] = [inTenant(own, 'gone'), inTenant(own, 'kept')];
  const outOf = async (name: string, tenants: readonly TenantApp[], old = 0) => {
    for (const tenant of tenants) await publish(tenant, name, new Date(Date.UTC(2024, 0, 1)));
    await settled(own);
    const { taken } = await runOffload(runOf(name), { before, graceMs: 0 });
    expect(taken).toBe(tenants.length + old);
  };
  const actionsOf = async (tenant: TenantApp) => {
    const { data } = await tenant.query<{ readonly actions: { readonly edges: readonly object[] } }>(
      '{ actions(first: 50) { edges { node { id } } } }',
      {},
      { sub: 'ann', roles: ['admin'] },
    );
    return data?.actions.edges.length;
  };
  await outOf('first', [gone, kept]);
  const operator = { userId: 'tenant', roles: new Set(['admin'] as const), expiresAt: null };
  const removed: string[] = [];
  for await (const { section } of own.services.eraseTenant(operator, 'gone', COLLECTIONS))
    removed.push(section);
  expect(removed).toContain('actions');

  expect(await runRestore(runOf('first'))).toEqual({ returned: 1, skipped: 1 });
  await own.idle();
  expect([await actionsOf(gone), await actionsOf(kept)]).toEqual([0, 1]);
  // What is not there has no name of the tenant either.
  const [noted, ...more] = await own.app.database.collections.erasedTenants.find().toArray();
  expect(more).toEqual([]);
  expect(JSON.stringify(noted)).not.toContain('gone');

  // Somebody new has that name.
  await outOf('second', [gone], 1);
  expect(await runRestore(runOf('second'))).toEqual({ returned: 2, skipped: 0 });
  expect([await actionsOf(gone), await actionsOf(kept)]).toEqual([1, 1]);
  await rm(folder, { recursive: true });
});

test.each(['acme\u001fann', 'an\u001fn'])('rejects %j as an id', async (memberId) => {
  const { errors, text } = await acme.query(
    'mutation ($memberId: String!) { addMute(target: { memberId: $memberId }) { memberId } }',
    {
      memberId,
    },
  );
  expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  expect(text).toContain('Must not contain control characters');
});

test('a global id finds a person of the own tenant, and never one of another tenant that it names', async () => {
  const members = [{ memberId: 'zoe', name: 'Zoe' }];
  const upsert = 'mutation ($members: [MemberInput!]!) { upsertMembers(members: $members) }';
  for (const tenant of [acme, other])
    expect((await tenant.query(upsert, { members }, SERVICE)).errors).toEqual([]);
  const found = async (key: string): Promise<unknown> => {
    const id = Buffer.from(`Member:${key}`).toString('base64');
    const { data } = await acme.query('query ($id: ID!) { node(id: $id) { id ... on Member { name } } }', {
      id,
    });
    return data;
  };
  const id = Buffer.from('Member:zoe').toString('base64');
  expect(await found('zoe')).toEqual({ node: { id, name: 'Zoe' } });
  expect(await found('other\u001fzoe')).toEqual({ node: null });
});

describe('a server', () => {
  test('without TENANT_CLAIM does not start on a database with tenants, nor beside a server with them', async () => {
    await expect(startTestApp({ database: app.database })).rejects.toThrow(
      /^Another process runs on the database, and only one of the two has TENANT_CLAIM set/,
    );
    const database = await leftBy({ TENANT_CLAIM });
    await expect(startTestApp({ database: database.database })).rejects.toThrow(
      'TENANT_CLAIM is not set, and the database has tenants',
    );
    expect(await doctorOf(database)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^FAIL +Schema +TENANT_CLAIM is not set, and the database has/m,
      ) as unknown,
    });
    expect(await doctorOf(database, { TENANT_CLAIM })).toMatchObject({ code: 0 });
    await database[Symbol.asyncDispose]();
  });

  test('with TENANT_CLAIM does not start on a database with data of none', async () => {
    const database = await leftBy({});
    await expect(startTestApp({ database: database.database, env: { TENANT_CLAIM } })).rejects.toThrow(
      'TENANT_CLAIM is set, and the database has data without tenants',
    );
    expect(await doctorOf(database, { TENANT_CLAIM })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^FAIL +Schema +TENANT_CLAIM is set, and the database has data/m,
      ) as unknown,
    });
    expect(await doctorOf(database)).toMatchObject({ code: 0 });
    await database[Symbol.asyncDispose]();
  });
});

/** What the doctor says of a database with these settings. */
function doctorOf({ database }: TestApp, env: Readonly<Record<string, string>> = {}): Promise<CliResult> {
  return runCli(['doctor'], {
    ...{ MONGODB_URI: inject('mongodbUri'), MONGODB_DB: database },
    ...{ REDIS_URL: inject('redisUrl'), JWT_SECRET: 'a-secret-that-is-only-for-tests-0123456789', ...env },
  });
}

/** A database that a server has written to and left. */
async function leftBy(env: Readonly<Record<string, string>>): Promise<TestApp> {
  const left = await startTestApp({ env, worker: false });
  const tenant = env['TENANT_CLAIM'] === undefined ? left : inTenant(left, 'acme');
  await tenant.query('mutation { upsertMembers(members: [{ memberId: "ann", name: "Ann" }]) }', {}, SERVICE);
  await left.app.close();
  return left;
}

/** How a socket is closed that says this first. */
function closing(payload: object): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(app.wsUrl, 'graphql-transport-ws');
    socket.once('open', () => {
      socket.send(JSON.stringify({ type: 'connection_init', payload }));
    });
    socket.once('close', (code, reason) => {
      resolve([code, reason.toString()]);
    });
    socket.once('error', reject);
  });
}
