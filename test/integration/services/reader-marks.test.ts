import { expect, test } from 'vitest';
import { openParts } from '../../support/parts.ts';

test('hides an item from its own reader only, also when it is delivered again, until it is unhidden', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'PUBLIC', mentions: ['ann', 'bob'] });
  await parts.fanOut();
  await parts.services.hideFeedItem(parts.session('ann'), action.id);
  await parts.services.hideFeedItem(parts.session('ann'), action.id);
  await parts.repositories.fanOuts.requestPass(action.id, new Date());
  await parts.fanOut();
  expect(await parts.feedOf('ann')).toEqual([]);
  expect(await parts.services.countUnread(parts.session('ann'))).toEqual({ count: 0, isExact: true });
  expect(await parts.feedOf('bob')).toEqual([action.id]);
  await parts.services.unhideFeedItem(parts.session('ann'), action.id);
  expect(await parts.feedOf('ann')).toEqual([action.id]);
});

test('does not distinguish an invisible item from a missing one', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'RESTRICTED', recipients: ['bob'] });
  for (const id of [action.id, 'f'.repeat(24)]) {
    await expect(parts.services.hideFeedItem(parts.session('ann'), id)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(parts.services.unhideFeedItem(parts.session('ann'), id)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  expect(await parts.database.collections.itemMarks.countDocuments()).toBe(0);
});
