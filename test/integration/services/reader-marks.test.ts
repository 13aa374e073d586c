import { expect, test } from 'vitest';
import { openParts, type Parts } from '../../support/parts.ts';

async function published(parts: Parts, actorId: string): Promise<string> {
  const { action } = await parts.publish({ actorId, scope: 'PUBLIC', mentions: ['ann'] });
  await parts.fanOut();
  return action.id;
}

test('keeps a muted author out of the feed at once, past actions included, and restores them', async () => {
  await using parts = await openParts();
  const fromBob = await published(parts, 'bob');
  const fromCid = await published(parts, 'cid');
  await parts.services.addMute(parts.session('ann'), { memberId: 'bob' });
  await parts.services.addMute(parts.session('ann'), { memberId: 'bob' });
  expect(await parts.feedOf('ann')).toEqual([fromCid]);
  expect(await parts.services.countUnread(parts.session('ann'))).toEqual({ count: 1, isExact: true });
  expect(await parts.services.getNewsfeedItem(parts.session('ann'), fromBob)).toBeNull();
  expect(await parts.services.getAction(parts.session('ann'), fromBob)).not.toBeNull();
  const later = await published(parts, 'bob');
  expect(await parts.feedOf('ann')).toEqual([fromCid]);
  await parts.services.removeMute(parts.session('ann'), { memberId: 'bob' });
  expect(await parts.feedOf('ann')).toEqual([later, fromCid, fromBob]);
});

test('mutes at most a thousand, and not oneself', async () => {
  await using parts = await openParts();
  const mutes = Array.from({ length: 1_000 }, (_, n) => ({
    kind: 'MEMBER' as const,
    value: `m${String(n)}`,
  }));
  await parts.database.collections.feeds.insertOne({ _id: 'ann', mutes });
  await expect(parts.services.addMute(parts.session('ann'), { memberId: 'one-more' })).rejects.toMatchObject({
    code: 'CONFLICT',
  });
  await parts.services.addMute(parts.session('ann'), { memberId: 'm7' });
  await parts.services.removeMute(parts.session('ann'), { memberId: 'm8' });
  await parts.services.addMute(parts.session('ann'), { memberId: 'one-more' });
  expect((await parts.session('ann').profile()).mutes.members.size).toBe(1_000);
  await expect(parts.services.addMute(parts.session('ann'), { memberId: 'ann' })).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
  });
});

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
