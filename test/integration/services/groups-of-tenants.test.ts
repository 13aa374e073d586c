import { beforeAll, expect, test } from 'vitest';
import { groupKeyAcrossTenants } from '../../../src/descriptors/group-key.ts';
import { acceptStoredIds } from '../../../src/descriptors/id-schema.ts';
import { storedId } from '../../../src/domain/tenant.ts';
import type { FeedGroup } from '../../../src/services/shapes.ts';
import { tenantGroupsMigration } from '../../../src/storage/migrations/tenant-groups.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { someModels } from '../../support/some-models.ts';

const DAY = Date.UTC(2024, 0, 10);
const HOUR_MS = 3_600_000;
const TENANTS = ['azure', 'crimson'] as const;
type TenantName = (typeof TENANTS)[number];

// As a server with tenants does when it starts.
beforeAll(acceptStoredIds);

/** What is of a group by texts alone, which are the same in both tenants; in turns, hour by hour. */
async function fill(parts: Parts): Promise<Record<TenantName, string[]>> {
  const ids: Record<TenantName, string[]> = { azure: [], crimson: [] };
  for (const tenant of TENANTS)
    await parts.services.followMany(parts.session(storedId(tenant, 'service'), 'service').identity, [
      { followerId: storedId(tenant, 'ann'), refId: storedId(tenant, 'bob') },
    ]);
  for (let hour = 0; hour < 6; hour++) {
    const tenant = TENANTS[hour % 2 === 0 ? 0 : 1];
    ids[tenant].unshift(await record(parts, storedId(tenant, 'bob'), hour));
  }
  await parts.fanOut();
  return ids;
}

async function record({ services, session }: Parts, actorId: string, hour: number): Promise<string> {
  const { action } = await services.publishAction(session(actorId).identity, {
    ...{ actorId, scope: 'PUBLIC', conducted: new Date(DAY + hour * HOUR_MS) },
    descriptor: { liked: { objectType: 'post', objectId: 'p' } },
  });
  return action.id;
}

/** Stores the keys from before groups were of one tenant. Gives that of the group, the same in both. */
async function keysOfBefore({ database }: Parts): Promise<string> {
  const { actions } = database.collections;
  const keys = new Set<string>();
  for (const document of await actions.find().toArray()) {
    const groupKey = groupKeyAcrossTenants(document) ?? '';
    keys.add(groupKey);
    await actions.updateOne({ _id: document._id }, { $set: { groupKey } });
  }
  const [key = '', ...others] = keys;
  expect([key === '', others]).toEqual([false, []]);
  return key;
}

async function idsOf(group: FeedGroup | null): Promise<string[]> {
  return group === null ? [] : (await group.load(() => false)).map(({ actionId }) => actionId);
}

async function shown(parts: Parts, tenant: TenantName): Promise<string[][]> {
  const { edges } = await parts.services.readFeedGroups(parts.session(storedId(tenant, 'ann')), {});
  return Promise.all(edges.map(({ node }) => idsOf(node)));
}

const stored = ({ database }: Parts) => database.collections.actions.find().sort({ _id: 1 }).toArray();
const keysOf = async (parts: Parts) => (await stored(parts)).map(({ groupKey }) => groupKey);

async function migrate(parts: Parts, limit: number): Promise<void> {
  let after: string | null = null;
  do ({ after } = await tenantGroupsMigration.batch(parts.database.collections, after, limit));
  while (after !== null);
}

test.each(someModels(1))(
  'the key of a group from before shows nothing across tenants, with the feed model %s',
  async (model) => {
    await using parts = await openParts({ model });
    const ids = await fill(parts);
    const key = await keysOfBefore(parts);
    const find = async (tenant: TenantName, member: string) =>
      idsOf(await parts.services.getFeedGroup(parts.session(storedId(tenant, member)), key));
    for (const tenant of TENANTS) {
      expect(await shown(parts, tenant)).toEqual([ids[tenant]]);
      expect(await find(tenant, 'ann')).toEqual(ids[tenant]);
      expect(await find(tenant, 'eve')).toEqual([]);
    }
    expect(await find('azure', 'bob')).toEqual([]);
    // Whose whole group is of the other tenant.
    const { actions } = parts.database.collections;
    await actions.updateMany({ tenant: 'azure' }, { $unset: { groupKey: 1 } });
    expect(await find('azure', 'ann')).toEqual([]);
  },
);

test('the migration joins what was recorded before with what came since, whatever a process holds', async () => {
  await using parts = await openParts({ cacheBytes: 1_000_000 });
  const ids = await fill(parts);
  await keysOfBefore(parts);
  const newest = await record(parts, storedId('azure', 'bob'), 9);
  await parts.fanOut();
  expect(await shown(parts, 'azure')).toEqual([[newest], ids.azure]);
  await migrate(parts, 100);
  expect(await shown(parts, 'azure')).toEqual([[newest, ...ids.azure]]);
  expect(await shown(parts, 'crimson')).toEqual([ids.crimson]);
});

test('the migration may be killed between two batches or between two writes, and run again', async () => {
  await using parts = await openParts();
  await fill(parts);
  const { actions } = parts.database.collections;
  const now = await keysOf(parts);
  const before = await keysOfBefore(parts);
  expect((await tenantGroupsMigration.batch(parts.database.collections, null, 3)).looked).toBe(3);
  expect((await keysOf(parts)).filter((key) => key === before)).toHaveLength(3);
  // Killed before it noted how far it was, in the midst of a batch.
  await actions.updateOne({ groupKey: { $ne: before } }, { $set: { groupKey: before } });
  await migrate(parts, 2);
  expect(await keysOf(parts)).toEqual(now);
  const migrated = await stored(parts);
  await migrate(parts, 4);
  expect(await stored(parts)).toEqual(migrated);
});

test('the migration leaves alone what has no tenant, no group, or the key of another declaration', async () => {
  await using parts = await openParts();
  await fill(parts);
  await record(parts, 'bob', 9);
  const before = await keysOfBefore(parts);
  const { actions } = parts.database.collections;
  const [first, second] = await stored(parts);
  if (first === undefined || second === undefined) throw new Error('Nothing was recorded');
  await actions.updateOne({ _id: first._id }, { $set: { groupKey: 'of another declaration' } });
  await actions.updateOne({ _id: second._id }, { $unset: { groupKey: 1 } });
  await migrate(parts, 100);
  const keys = await keysOf(parts);
  expect(keys.slice(0, 2)).toEqual(['of another declaration', undefined]);
  // The last one has no tenant.
  expect(keys.at(-1)).toBe(before);
  expect(keys.slice(2, -1)).not.toContain(before);
});
