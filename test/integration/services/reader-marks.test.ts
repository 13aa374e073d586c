import { expect, onTestFinished, test, vi } from 'vitest';
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

test('what comes after a mark is unread, and what came before is read, while the clock stands still', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const ann = () => parts.session('ann');
  const stopped = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
  onTestFinished(() => stopped.mockRestore());
  const publish = () => parts.publish({ scope: 'PUBLIC', mentions: ['ann'] });
  const unread = async (): Promise<number> => {
    await parts.fanOut();
    return (await services.countUnread(ann())).count;
  };
  const { action } = await publish();
  await services.markFeedRead(ann(), action.latest);
  await publish();
  expect(await unread()).toBe(1);
  await services.markFeedRead(ann(), new Date(8e15));
  expect(await unread()).toBe(0);
  const { action: last } = await publish();
  await services.markItemsRead(ann(), [last.id]);
  expect(await unread()).toBe(0);
  await services.addInteraction(parts.session('bob'), { actionId: last.id, kind: 'COMMENT' });
  expect(await unread()).toBe(1);
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
