import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineDescriptor } from '../../src/descriptors/declare.ts';
import { field } from '../../src/descriptors/field.ts';
import { checkHostConfig, defineConfig } from '../../src/descriptors/host-config.ts';
import { useDescriptors } from '../../src/descriptors/registry.ts';
import type { Role } from '../../src/domain/viewer.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, rawId } from '../support/feed-api.ts';
import { inTenant, TENANT_CLAIM } from '../support/tenants.ts';
import { ObjectId } from 'mongodb';

// Two tenants whose actions of own types have the same ids, the same values and the same day: nothing of one reaches the
// other by what follows from the declarations.

const TENANTS = ['azure', 'crimson'] as const;
type TenantName = (typeof TENANTS)[number];
const ADMIN: { readonly sub: string; readonly roles: readonly Role[] } = {
  sub: 'root',
  roles: ['service', 'admin'],
};
const DAY = '2026-01-01T12:00:00Z';

const config = defineConfig({
  packs: [],
  descriptors: [
    defineDescriptor('Deployed', {
      description: 'A version went live.',
      fields: {
        serviceId: field.ref('service', { label: 'serviceName', indexed: true }),
        serviceName: field.text(),
        ownerId: field.person({ name: 'ownerName', indexed: true }),
        ownerName: field.text(),
        version: field.text(),
      },
      summary: { en: '{ownerId} deployed {version} of {serviceId}' },
      group: ['serviceId', 'ownerId', 'version'],
    }),
    // What they have in common names nobody and nothing.
    defineDescriptor('AlarmRaised', {
      description: 'An alarm went off.',
      fields: { level: field.enum(['LOW', 'HIGH']), place: field.text(), note: field.text() },
      summary: { en: '{actor} raised an alarm in {place}' },
      group: ['level', 'place'],
    }),
  ],
});

let app: TestApp;
const ids: Record<TenantName, { deployed: string; alarms: string[] }> = {
  azure: { deployed: '', alarms: [] },
  crimson: { deployed: '', alarms: [] },
};

const of = (tenant: TenantName) => inTenant(app, tenant);
const other = (tenant: TenantName): TenantName => (tenant === 'azure' ? 'crimson' : 'azure');

beforeAll(async () => {
  useDescriptors(checkHostConfig(config, 'test/alone/tenants-own-types.test.ts'));
  app = await startTestApp({ env: { TENANT_CLAIM, POLL_INTERVAL: '100ms' } });
  for (const tenant of TENANTS) await fill(tenant);
  await app.idle();
});
afterAll(() => app[Symbol.asyncDispose]());

async function fill(tenant: TenantName): Promise<void> {
  await ask(
    of(tenant),
    `mutation ($members: [MemberInput!]!, $pairs: [FollowInput!]!) {
      upsertMembers(members: $members) followMany(pairs: $pairs) }`,
    {
      members: ['ann', 'bob', 'eve'].map((memberId) => ({ memberId, name: `${tenant} ${memberId}` })),
      pairs: ['shop', 'bob'].map((refId) => ({ followerId: 'eve', refId })),
    },
    ADMIN,
  );
  const recorded = { actorId: 'bob', scope: 'PUBLIC', conducted: DAY };
  const deployed = {
    ...{ serviceId: 'shop', serviceName: `${tenant} shop`, ownerId: 'ann', ownerName: `${tenant} ann` },
    version: tenant,
  };
  ids[tenant].deployed = await publish(of(tenant), { ...recorded, descriptor: { deployed } });
  for (const note of ['first', 'second']) {
    const alarmRaised = { level: 'HIGH', place: 'hall', note: `${tenant} ${note}` };
    ids[tenant].alarms.push(await publish(of(tenant), { ...recorded, descriptor: { alarmRaised } }));
  }
}

interface Groups {
  readonly feedGroups: {
    readonly edges: readonly {
      readonly node: {
        readonly id: string;
        readonly summary: string;
        readonly count: { readonly count: number };
        readonly items: readonly { readonly action: { readonly id: string } }[];
      };
    }[];
  };
}

const GROUP = 'id summary count { count } items(first: 9) { action { id } }';

async function groupsOf(tenant: TenantName): Promise<Groups['feedGroups']['edges']> {
  const query = `{ feedGroups { edges { node { ${GROUP} } } } }`;
  return (await ask<Groups>(of(tenant), query, {}, { sub: 'eve' })).feedGroups.edges;
}

test.each(TENANTS)(
  'the groups of %s contain only its own actions, whatever they have in common',
  async (tenant) => {
    const groups = await groupsOf(tenant);
    expect(groups.map(({ node }) => [node.count.count, node.items.map(({ action }) => action.id)])).toEqual([
      [2, ids[tenant].alarms.toReversed()],
      [1, [ids[tenant].deployed]],
    ]);
    expect(groups.map(({ node }) => node.summary)).toEqual([
      `${tenant} bob raised an alarm in hall`,
      `${tenant} ann deployed ${tenant} of ${tenant} shop`,
    ]);
  },
);

test.each(TENANTS)('a group of %s is found by its id only there', async (tenant) => {
  const query = `query ($id: ID!) { node(id: $id) { ... on FeedGroup { ${GROUP} } } }`;
  for (const { node } of await groupsOf(tenant)) {
    expect(await ask(of(tenant), query, { id: node.id }, { sub: 'eve' })).toEqual({ node });
    expect(await ask(of(other(tenant)), query, { id: node.id }, { sub: 'eve' })).toEqual({ node: null });
  }
});

test('no group is stored under a key of another tenant', async () => {
  const { actions } = app.app.database.collections;
  const keys = async (tenant: TenantName): Promise<Set<string>> => {
    const stored = await actions.find({ tenant }).toArray();
    return new Set(stored.map(({ groupKey }) => groupKey ?? ''));
  };
  const [azure, crimson] = [await keys('azure'), await keys('crimson')];
  expect(azure.size).toBe(2);
  expect([...azure].filter((key) => crimson.has(key))).toEqual([]);
});

test.each([
  ['serviceId', 'shop'],
  ['ownerId', 'ann'],
])("a filter on %s finds only its tenant's actions", async (name, value) => {
  const query = `query ($filter: ActionFilter!) { actions(filter: $filter) { edges { node { id } } } }`;
  for (const tenant of TENANTS)
    expect(await ask(of(tenant), query, { filter: { descriptor: { field: name, value } } }, ADMIN)).toEqual({
      actions: { edges: [{ node: { id: ids[tenant].deployed } }] },
    });
});

test.each(['shop', 'ann'])(
  "the slice of %s, a ref by declaration, contains only its tenant's actions",
  async (refId) => {
    const query = 'query ($refId: String!) { slice(refId: $refId) { edges { node { id } } } }';
    for (const tenant of TENANTS)
      expect(await ask(of(tenant), query, { refId }, { sub: 'eve' })).toEqual({
        slice: { edges: [{ node: { id: ids[tenant].deployed } }] },
      });
  },
);

const SHOWN = `query ($id: ID!) { action(id: $id) {
  refs { refId label } descriptor { summary ... on DeployedDescriptor { serviceName ownerName } }
} }`;

async function stored(tenant: TenantName) {
  const _id = new ObjectId(rawId(ids[tenant].deployed));
  return (await app.app.database.collections.actions.findOne({ _id }))?.descriptor;
}

test('a rename updates only the copies of its tenant', async () => {
  const known = [await ask(of('crimson'), SHOWN, { id: ids.crimson.deployed }), await stored('crimson')];
  await ask(
    of('azure'),
    `mutation { renameRef(refId: "shop", label: "Market") { label }
      upsertMembers(members: [{ memberId: "ann", name: "Ann Lee" }]) }`,
    {},
    ADMIN,
  );
  await app.idle();
  expect(await ask(of('azure'), SHOWN, { id: ids.azure.deployed })).toMatchObject({
    action: { descriptor: { serviceName: 'Market', ownerName: 'Ann Lee' } },
  });
  expect(await stored('azure')).toMatchObject({ serviceName: 'Market', ownerName: 'Ann Lee' });
  expect([await ask(of('crimson'), SHOWN, { id: ids.crimson.deployed }), await stored('crimson')]).toEqual(
    known,
  );
});

test('an erasure removes a person only from the actions of its tenant', async () => {
  const known = [await ask(of('crimson'), SHOWN, { id: ids.crimson.deployed }), await stored('crimson')];
  await ask(of('azure'), 'mutation { eraseMember(memberId: "ann") }', {}, ADMIN);
  await app.idle();
  await expect.poll(async () => JSON.stringify(await stored('azure'))).not.toContain('ann');
  expect([await ask(of('crimson'), SHOWN, { id: ids.crimson.deployed }), await stored('crimson')]).toEqual(
    known,
  );
  expect(await groupsOf('crimson')).toHaveLength(2);
});
