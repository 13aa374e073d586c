import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { openParts, type Parts } from '../../support/parts.ts';

const admin = (parts: Parts) => parts.session('admin', 'admin');

async function inTwoFeeds(parts: Parts): Promise<string> {
  const { action } = await parts.publish({ scope: 'PUBLIC', mentions: ['ann', 'bob'] });
  await parts.fanOut();
  return action.id;
}

const items = (parts: Parts) => parts.database.db.collection('newsfeedItems').countDocuments();

test('hides at once from everybody but admins, then from the stored feeds, and restores it', async () => {
  await using parts = await openParts();
  const id = await inTwoFeeds(parts);
  const hidden = await parts.services.hideAction(admin(parts), id, 'Off topic');
  expect(hidden.isHidden).toBe(true);
  expect(await parts.feedOf('ann')).toEqual([]);
  expect(await parts.services.countUnread(parts.session('ann'))).toEqual({ count: 0, isExact: true });
  expect(await parts.services.getAction(parts.session('ann'), id)).toBeNull();
  expect(await parts.services.getAction(parts.session('actor'), id)).toBeNull();
  expect(await parts.services.getAction(admin(parts), id)).not.toBeNull();
  expect(await items(parts)).toBe(2);
  await parts.fanOut();
  expect(await items(parts)).toBe(0);
  await parts.services.unhideAction(admin(parts), id);
  await parts.fanOut();
  expect(await parts.feedOf('ann')).toEqual([id]);
});

test('deletes at once for everybody, removes the items and leaves only a tombstone', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({
    actorId: 'ann',
    idempotencyKey: 'k',
    mentions: ['bob'],
    scope: 'PUBLIC',
  });
  await parts.services.addInteraction(parts.session('bob'), { actionId: action.id, kind: 'LIKE' });
  await parts.services.hideFeedItem(parts.session('bob'), action.id);
  await parts.services.bookmark(parts.session('bob'), action.id);
  await parts.fanOut();
  await parts.services.deleteAction(parts.session('ann'), action.id);
  expect(await parts.services.getAction(admin(parts), action.id)).toBeNull();
  expect(await parts.feedOf('bob')).toEqual([]);
  await parts.fanOut();
  const { actions, bookmarks, interactions, itemMarks } = parts.database.collections;
  expect(await items(parts)).toBe(0);
  expect(await interactions.countDocuments()).toBe(0);
  expect(await itemMarks.countDocuments()).toBe(0);
  expect(await bookmarks.countDocuments()).toBe(0);
  expect(await actions.findOne({ _id: new ObjectId(action.id) })).toMatchObject({
    actorId: 'ann',
    idempotencyKey: 'k',
    isDeleted: true,
    refs: [],
    audience: [],
    descriptor: { type: 'Custom', tags: [] },
  });
  await parts.services.deleteAction(parts.session('ann'), action.id);
  await expect(parts.publish({ actorId: 'ann', idempotencyKey: 'k' })).rejects.toMatchObject({
    code: 'CONFLICT',
  });
  await expect(parts.services.hideAction(admin(parts), action.id, null)).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('records who did what, when and why, once per change', async () => {
  await using parts = await openParts();
  const id = await inTwoFeeds(parts);
  await parts.services.hideAction(admin(parts), id, 'Spam');
  await parts.services.hideAction(admin(parts), id, 'Spam again');
  await parts.services.unhideAction(admin(parts), id);
  await parts.services.deleteAction(admin(parts), id);
  await parts.services.deleteAction(admin(parts), id);
  const log = await parts.services.readModerationLog(admin(parts), { actionId: id });
  expect(log.edges.map(({ node }) => [node.kind, node.by, node.reason])).toEqual([
    ['DELETE', 'admin', null],
    ['UNHIDE', 'admin', null],
    ['HIDE', 'admin', 'Spam'],
  ]);
  const first = await parts.services.readModerationLog(admin(parts), { first: 2 });
  const rest = await parts.services.readModerationLog(admin(parts), { first: 2, after: first.end });
  expect([...first.edges, ...rest.edges].map(({ node }) => node.kind)).toEqual(['DELETE', 'UNHIDE', 'HIDE']);
});

test('adds a record to the log that was interrupted between the change and the log', async () => {
  await using parts = await openParts();
  const id = await inTwoFeeds(parts);
  await parts.repositories.moderation.apply(id, {
    kind: 'HIDE',
    by: 'admin',
    at: new Date(Date.now() - 60_000),
    reason: 'Spam',
  });
  expect((await parts.services.readModerationLog(admin(parts), {})).edges).toEqual([]);
  await parts.fanOut();
  const log = await parts.services.readModerationLog(admin(parts), {});
  expect(log.edges.map(({ node }) => [node.kind, node.reason])).toEqual([['HIDE', 'Spam']]);
  const [action] = await parts.database.collections.actions.find().toArray();
  expect(action?.unlogged).toEqual([]);
});

test('only admins hide and read the log, and only admins and the actor delete', async () => {
  await using parts = await openParts();
  const id = await inTwoFeeds(parts);
  const { action } = await parts.publish({ scope: 'RESTRICTED', recipients: ['bob'] });
  const forbidden = { code: 'FORBIDDEN' };
  for (const session of [() => parts.session('ann'), () => parts.session('svc', 'service')]) {
    await expect(parts.services.hideAction(session(), id, null)).rejects.toMatchObject(forbidden);
    await expect(parts.services.unhideAction(session(), id)).rejects.toMatchObject(forbidden);
    await expect(parts.services.deleteAction(session(), id)).rejects.toMatchObject(forbidden);
    await expect(parts.services.readModerationLog(session(), {})).rejects.toMatchObject(forbidden);
    await expect(parts.services.deleteAction(session(), action.id)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(parts.services.deleteAction(session(), 'f'.repeat(24))).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  expect((await parts.services.readModerationLog(admin(parts), {})).edges).toEqual([]);
});
