import { expect, test } from 'vitest';
import { openParts } from '../../support/parts.ts';

test('of a reader with very many blocks, a feed that is read from its actions asks about members who pass something on', async () => {
  await using parts = await openParts();
  const { services, session, core } = parts;
  await services.follow(session('ann'), 'pat', 0);
  const { action } = await parts.publish({ actorId: 'bob', scope: 'PUBLIC' });
  await services.addInteraction(session('pat'), { actionId: action.id, kind: 'RESHARE' });
  await parts.fanOut();
  const at = new Date();
  const block = async (otherIds: readonly string[]): Promise<void> => {
    await parts.database.collections.blocks.insertMany(
      otherIds.map((otherId) => ({ _id: { userId: 'ann', otherId }, other: at })),
    );
    await core.feeds.markBlocks(['ann']);
    await core.feeds.renewBlocks(['ann']);
  };
  const newest = async (): Promise<string[]> => {
    const { edges } = await services.readFeed(session('ann'), { order: 'RECENT' });
    return edges.map(({ node }) => node.actionId);
  };
  await block(Array.from({ length: 3_000 }, (_, n) => `nobody${String(n)}`));
  expect((await session('ann').profile()).blocks.isWhole).toBe(false);
  expect(await newest()).toEqual([action.id]);
  await services.rebuildFeed(parts.admin, 'ann');
  await parts.fanOut();
  expect(await parts.feedOf('ann')).toEqual([action.id]);
  await block(['pat']);
  expect(await newest()).toEqual([]);
});
