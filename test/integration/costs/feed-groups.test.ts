import { expect, test } from 'vitest';
import { commandsOf, stagesOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';

/** Sixty actions about thirty things, two about each, in Ann's feed. */
async function openGroups(): Promise<Parts> {
  const parts = await openParts({ monitorCommands: true, cacheBytes: 0 });
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'actor' }]);
  await parts.services.publishActions(
    parts.service,
    Array.from({ length: 60 }, (_, n) => ({
      ...{ actorId: 'actor', scope: 'PUBLIC', conducted: new Date(Date.UTC(2024, 0, 10, 0, n)) },
      descriptor: { liked: { objectType: 'post', objectId: String(n % 30) } },
    })),
  );
  await parts.fanOut();
  await parts.services.readFeed(parts.session('ann'), {});
  return parts;
}

test('reads groups in two round trips per batch, and the contents of all of them with one query of each kind', async () => {
  await using parts = await openGroups();
  const session = parts.session('ann');
  await session.profile();
  let groups: Awaited<ReturnType<typeof parts.services.readFeedGroups>> | undefined;
  const page = await commandsOf(parts.database, async () => {
    groups = await parts.services.readFeedGroups(session, { first: 25 });
  });
  expect(page.map(({ name, collection }) => `${name} ${collection}`)).toEqual([
    'aggregate feeds',
    'find actions',
  ]);
  const members = await commandsOf(parts.database, () =>
    Promise.all((groups?.edges ?? []).map(({ node }) => node.load(({ length }) => length > 1_000))),
  );
  expect(members.map(({ name, collection }) => `${name} ${collection}`)).toEqual([
    'find actions',
    'find actions',
  ]);
});

test('behind a cursor reads the groups of a page once, by index', async () => {
  await using parts = await openGroups();
  const { end: endCursor } = await parts.services.readFeedGroups(parts.session('ann'), { first: 5 });
  const session = parts.session('ann');
  await session.profile();
  const commands = await commandsOf(parts.database, () =>
    parts.services.readFeedGroups(session, { first: 5, after: endCursor }),
  );
  expect(commands.map(({ name, collection }) => `${name} ${collection}`)).toEqual([
    'aggregate feeds',
    'find actions',
    'find actions',
    'find newsfeedItems',
    'find actions',
  ]);
  const { edges } = await parts.services.readFeedGroups(parts.session('ann'), { first: 25 });
  const keys = edges.map(({ node }) => node.groupKey);
  const { newestOf } = parts.repositories.actionGroups;
  const reads = await commandsOf(parts.database, async () => {
    const all = await newestOf(keys, 50, null);
    const first = await newestOf(keys, 1, null);
    for (const key of keys) {
      expect(all.get(key)).toMatchObject({ members: [{}, {}], areAll: true });
      expect(first.get(key)).toMatchObject({ members: [{}], areAll: false });
    }
  });
  expect(reads.map(({ name }) => name)).toEqual(['find', 'find', 'aggregate']);
  for (const read of reads)
    expect((await stagesOf(parts.database, read)).map(({ indexName }) => indexName)).toContain('groups');
});

test('reads many items or groups by id together', async () => {
  await using parts = await openGroups();
  const { edges } = await parts.services.readFeedGroups(parts.session('ann'), { first: 25 });
  const tops = await Promise.all(edges.map(({ node }) => node.load(({ length }) => length > 0)));
  const itemIds = tops.flatMap(([top]) => top?.actionId ?? []);
  const keys = edges.map(({ node }) => node.groupKey);
  const session = parts.session('ann');
  await session.profile();
  const ofItems = await commandsOf(parts.database, async () => {
    const items = await Promise.all(itemIds.map((id) => parts.services.getNewsfeedItem(session, id)));
    expect(items.map((item) => item?.actionId)).toEqual(itemIds);
  });
  expect(ofItems.filter(({ collection }) => collection === 'newsfeedItems')).toHaveLength(1);
  const ofGroups = await commandsOf(parts.database, async () => {
    const groups = await Promise.all(keys.map((key) => parts.services.getFeedGroup(session, key)));
    expect(groups.map((group) => group?.groupKey)).toEqual(keys);
  });
  expect(ofGroups.filter(({ collection }) => collection === 'newsfeedItems')).toHaveLength(1);
  expect(ofGroups.length).toBeLessThan(5);
});
