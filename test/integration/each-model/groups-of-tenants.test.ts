import { beforeAll, expect, test } from 'vitest';
import { acceptStoredIds } from '../../../src/descriptors/id-schema.ts';
import { storedId } from '../../../src/domain/stored-id.ts';
import type { FeedGroup } from '../../../src/core/shapes.ts';
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

/** Gives all actions the same key, which no two tenants have in practice. */
async function sameKeyForAll({ database }: Parts): Promise<string> {
  const groupKey = 'the-key-of-both';
  await database.collections.actions.updateMany({}, { $set: { groupKey } });
  return groupKey;
}

async function idsOf(group: FeedGroup | null): Promise<string[]> {
  return group === null ? [] : (await group.load(() => false)).map(({ actionId }) => actionId);
}

async function shown(parts: Parts, tenant: TenantName): Promise<string[][]> {
  const { edges } = await parts.services.readFeedGroups(parts.session(storedId(tenant, 'ann')), {});
  return Promise.all(edges.map(({ node }) => idsOf(node)));
}

test.each(someModels(1))(
  'a key of two tenants shows nothing across tenants, with the feed model %s',
  async (model) => {
    await using parts = await openParts({ model });
    const ids = await fill(parts);
    const key = await sameKeyForAll(parts);
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
