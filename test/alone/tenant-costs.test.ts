import { expect, test } from 'vitest';
import { commandsOf, withoutClockReads } from '../support/commands.ts';
import type { CommandSucceededEvent } from 'mongodb';
import { startTestApp, type TestApp } from '../support/app.ts';
import { inTenant, TENANT_CLAIM, type TenantApp } from '../support/tenants.ts';

// What is paid for tenants: nothing. Pages are read in as many commands that bring as many documents.

const ENV = { EVENT_RETENTION: 'off' };
const SERVICE = { sub: 'service', roles: ['service'] } as const;
const ITEM =
  '{ pageInfo { endCursor } edges { node { id action { id actor { memberId name } refs { refId label } } } } }';

const PAGES: Readonly<Record<string, string>> = {
  feed: `{ feed(first: 20) ${ITEM} }`,
  'feed with its unread count': `{ feed(first: 20) { unread { count } edges { node { id isUnread } } } }`,
  slice:
    '{ slice(refId: "site", first: 20) { edges { node { id actor { name } descriptor { summary } } } } }',
  groups: '{ feedGroups(first: 20) { edges { node { id count { count } } } } }',
  viewer: '{ viewer { memberId member { name } following(first: 10) { edges { node { refId } } } } }',
  actions: '{ actions(first: 20) { edges { node { id } } } }',
  'moderation log': '{ moderationLog(first: 20) { edges { node { at } } } }',
};

async function fill(site: Pick<TenantApp, 'query'>): Promise<void> {
  const run = async (document: string, variables: Readonly<Record<string, unknown>> = {}) => {
    expect((await site.query(document, variables, SERVICE)).errors).toEqual([]);
  };
  await run(
    `mutation { upsertMembers(members: [{ memberId: "ann", name: "Ann" }, { memberId: "bob", name: "Bob" }])
      upsertRefs(refs: [{ id: "site", type: "site", label: "Site" }])
      followMany(pairs: [{ followerId: "ann", refId: "site" }]) }`,
  );
  await run('mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { isReplay } }', {
    inputs: Array.from({ length: 15 }, (_, n) => ({
      ...{ idempotencyKey: `k${String(n)}`, actorId: 'bob', scope: 'PUBLIC' },
      ...{ mentions: ['ann'], refs: [{ id: 'site', type: 'site', label: 'Site' }] },
      conducted: new Date(Date.UTC(2024, 0, 1, n)),
      descriptor: { posted: { postId: `p${String(n)}` } },
    })),
  });
}

async function deliver(database: string, env: TestApp['env']): Promise<void> {
  await using worker = await startTestApp({ api: false, env, database });
  await worker.idle();
}

interface Work {
  readonly commands: readonly string[];
  /** In all answers together. */
  readonly documents: number;
}

/** What a query takes once everything is known that the process keeps. */
async function workOf(app: TestApp, ask: () => Promise<unknown>): Promise<Work> {
  await ask();
  await ask();
  let documents = 0;
  const count = ({ reply }: CommandSucceededEvent): void => {
    const { firstBatch = [], nextBatch = [] } =
      (reply as { readonly cursor?: { readonly firstBatch?: unknown[]; readonly nextBatch?: unknown[] } })
        .cursor ?? {};
    documents += firstBatch.length + nextBatch.length;
  };
  const { client } = app.app.database.db;
  client.on('commandSucceeded', count);
  try {
    const commands = withoutClockReads(await commandsOf(app.app.database, ask));
    return { commands: commands.map(({ name, collection }) => `${name} ${collection}`).sort(), documents };
  } finally {
    client.off('commandSucceeded', count);
  }
}

test('a page takes the same commands and documents with and without tenants', async () => {
  await using plain = await startTestApp({ worker: false, env: ENV, monitorCommands: true });
  await using app = await startTestApp({
    ...{ worker: false, monitorCommands: true },
    env: { ...ENV, TENANT_CLAIM },
  });
  const acme = inTenant(app, 'acme');
  const without: Pick<TenantApp, 'query'> = {
    query: async (document, variables, as = { sub: 'ann' }) => ({
      ...(await plain.query(document, variables, as)),
      text: '',
    }),
  };
  // Others with the same ids are not read, and cost nothing.
  for (const site of [without, acme, inTenant(app, 'other')]) await fill(site);
  // Workers have commands of their own: they are gone when it is counted.
  for (const { database, env } of [plain, app]) await deliver(database, env);
  const reader = { sub: 'ann', roles: ['user', 'admin'] } as const;
  const costs: Record<string, [Work, Work]> = {};
  for (const [page, document] of Object.entries(PAGES)) {
    const answerOf = async (site: Pick<TenantApp, 'query'>) => {
      const { data, errors } = await site.query<object>(document, {}, reader);
      expect([page, errors]).toEqual([page, []]);
      return data;
    };
    costs[page] = [await workOf(plain, () => answerOf(without)), await workOf(app, () => answerOf(acme))];
    expect(Object.keys((await answerOf(acme)) ?? {})).toEqual(Object.keys((await answerOf(without)) ?? {}));
  }
  for (const [page, [off, on]] of Object.entries(costs)) {
    expect(off.commands.length).toBeGreaterThan(0);
    expect([page, on]).toEqual([page, off]);
  }
  console.log(
    Object.entries(costs)
      .map(
        ([page, [{ commands, documents }]]) => `${page}: ${String(commands.length)} / ${String(documents)}`,
      )
      .join(', '),
  );
});
