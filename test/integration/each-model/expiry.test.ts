import { expect, test } from 'vitest';
import { idsOf, publishSome, rows } from '../../conformance/feed-tools.ts';
import { expiryWorker, letExpire } from '../../support/expire.ts';
import { openLiveList, type LiveList } from '../../support/live-list.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { someModels } from '../../support/some-models.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;

interface Scene {
  readonly kept: string;
  readonly expiring: string;
}

/** Ann follows a ref with two actions, one of which is published for an hour. */
async function openScene(parts: Parts): Promise<Scene> {
  const [kept = ''] = await publishSome(parts, 1, { refId: 'site' });
  const { action } = await parts.publish({
    actorId: 'bob',
    scope: 'PUBLIC',
    idempotencyKey: 'once',
    refs: [{ id: 'site', type: 'site', label: 'Site' }],
    expiresAt: new Date(Date.now() + HOUR),
    descriptor: { posted: { postId: 'p', text: 'For an hour' } },
  });
  await parts.services.follow(parts.session('ann'), 'site', 100);
  await parts.feedOf('ann');
  // A model may rebuild the feed after this read.
  await parts.fanOut();
  return { kept, expiring: action.id };
}

function removals({ events }: LiveList, actionId: string): number {
  return events.filter((event) => event.kind === 'removed' && event.actionId === actionId).length;
}

test.each(someModels(1))(
  'is gone everywhere in time, without a worker, feeds stored by %s',
  async (model) => {
    await using parts = await openParts({ model });
    const { kept, expiring } = await openScene(parts);
    const { services } = parts;
    const ann = () => parts.session('ann');
    expect(await idsOf(parts, 'ann')).toEqual([expiring, kept]);
    await letExpire(parts, expiring);
    expect(await idsOf(parts, 'ann')).toEqual([kept]);
    for (const order of ['RECENT', 'TOP'] as const) {
      const { edges } = await services.readFeed(ann(), { order });
      expect(edges.map(({ node }) => node.actionId)).not.toContain(expiring);
    }
    const { countUnread } = await services.readFeed(ann(), {});
    expect(await countUnread()).toEqual({ count: 1, isExact: true });
    const slice = await services.readSlice(ann(), 'site', {});
    expect(slice.edges.map(({ node }) => node.id)).toEqual([kept]);
    expect(await services.getAction(ann(), expiring)).toBeNull();
    const admin = parts.session('root', 'admin');
    expect(await services.getAction(admin, expiring)).toBeNull();
    const all = await services.listActions(admin, { includeHidden: true });
    expect(all.edges.map(({ node }) => node.id)).toEqual([kept]);
    for (const refused of [
      () => services.addInteraction(ann(), { actionId: expiring, kind: 'LIKE' }),
      () => services.hideFeedItem(ann(), expiring),
      () => services.hideAction(admin, expiring, null),
    ])
      await expect(refused()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  },
);

test.each(someModels(2))(
  'watchers are notified once, and its entries are removed, feeds stored by %s',
  async (model) => {
    await using parts = await openParts({ model });
    const { kept, expiring } = await openScene(parts);
    await using list = await openLiveList(parts, parts.session('ann').identity);
    const workers = [expiryWorker(parts), expiryWorker(parts)];
    await Promise.all(workers.map((worker) => worker.round(new Date())));
    expect(removals(list, expiring)).toBe(0);
    await letExpire(parts, expiring);
    await Promise.all(workers.map((worker) => worker.round(new Date())));
    await parts.fanOut();
    await list.caughtUp();
    expect([...list.shown.keys()]).toEqual([kept]);
    expect(removals(list, expiring)).toBe(1);
    expect(await parts.feedStore.find('ann', [expiring])).toEqual([]);
    expect(await parts.database.collections.moderationLog.countDocuments({})).toBe(0);
    expect(await expiryWorker(parts).round(new Date())).toBe(false);
  },
);

test('the pass notifies watchers if the process died after the commit', async () => {
  await using parts = await openParts();
  const { kept, expiring } = await openScene(parts);
  await using list = await openLiveList(parts, parts.session('ann').identity);
  await letExpire(parts, expiring);
  const { moderation } = parts.repositories;
  // Long enough ago that the pass waits for nobody.
  const expired = await moderation.expire(expiring, new Date(Date.now() - 500));
  expect(expired).toMatchObject({ isDeleted: true });
  await parts.database.collections.actions.updateMany({}, { $set: { 'fanOut.leaseUntil': new Date(0) } });
  await parts.fanOut();
  await list.caughtUp();
  expect([...list.shown.keys()]).toEqual([kept]);
  expect(removals(list, expiring)).toBe(1);
});

test('a delivery after the expiry reaches nobody', async () => {
  await using parts = await openParts();
  await parts.services.follow(parts.session('ann'), 'bob', 0);
  await using list = await openLiveList(parts, parts.session('ann').identity);
  const { action } = await parts.publish({ actorId: 'bob', expiresAt: new Date(Date.now() + HOUR) });
  await letExpire(parts, action.id);
  await parts.fanOut();
  await list.caughtUp();
  expect([...list.shown.keys()]).toEqual([]);
  expect(await rows(parts, 'ann')).toEqual([]);
  await expiryWorker(parts).round(new Date());
  await parts.fanOut();
  expect(await parts.feedStore.find('ann', [action.id])).toEqual([]);
});

test('an action that was read before expires by the clock', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ actorId: 'bob', expiresAt: new Date(Date.now() + HOUR) });
  await letExpire(parts, action.id);
  const [read] = await parts.repositories.actions.findByIds([action.id]);
  expect([action.isDeleted, read?.isDeleted]).toEqual([false, true]);
});

test('must be later than now and than conducted, and the replay of an expired action is a conflict', async () => {
  await using parts = await openParts();
  const late = {
    code: 'BAD_USER_INPUT',
    issues: [{ path: ['input', 'expiresAt'], message: 'Must be later than now and than conducted' }],
  };
  const over = { actorId: 'bob', expiresAt: new Date() };
  await expect(parts.publish(over)).rejects.toMatchObject(late);
  const soon = { actorId: 'bob', conducted: new Date(Date.now() + 4 * MINUTE) };
  const before = new Date(Date.now() + 3 * MINUTE);
  await expect(parts.publish({ ...soon, expiresAt: before })).rejects.toMatchObject(late);
  const { action } = await parts.publish(soon);
  await expect(
    parts.services.updateAction(parts.session('bob'), action.id, { expiresAt: before }),
  ).rejects.toMatchObject(late);
  const { expiring } = await openScene(parts);
  await letExpire(parts, expiring);
  for (const expiresAt of [new Date(Date.now() + HOUR), new Date()])
    await expect(parts.publish({ actorId: 'bob', idempotencyKey: 'once', expiresAt })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  await expect(parts.publish({ ...over, idempotencyKey: 'never' })).rejects.toMatchObject(late);
});

test('a retry after the end it names returns the first action, if that was given a later end', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({
    ...{ actorId: 'bob', idempotencyKey: 'once', expiresAt: new Date(Date.now() + HOUR) },
  });
  // As if the hour were over.
  const retry = { actorId: 'bob', idempotencyKey: 'once', expiresAt: new Date(Date.now() - 1_000) };
  expect(await parts.publish(retry)).toMatchObject({ action: { id: action.id }, isReplay: true });
  const descriptor = { posted: { postId: 'p', text: 'Hello' } };
  const outcomes = await parts.services.publishActions(parts.service, [
    { ...retry, descriptor },
    { ...retry, descriptor, idempotencyKey: 'never' },
    { actorId: 'bob', descriptor },
  ]);
  expect(outcomes.map(({ action: of, isReplay, error }) => [of?.id === action.id, isReplay, error])).toEqual([
    [true, true, null],
    [
      false,
      false,
      { code: 'BAD_USER_INPUT', message: 'inputs.1.expiresAt: Must be later than now and than conducted' },
    ],
    [false, false, null],
  ]);
  expect(
    (await parts.repositories.publishing.published([{ actorId: 'bob', idempotencyKey: 'never' }]))[0],
  ).toBe(false);
});

test('an action that cannot be deleted does not keep others from expiring', async () => {
  await using parts = await openParts();
  const { moderation } = parts.repositories;
  const ids: string[] = [];
  for (const postId of ['a', 'b', 'c']) {
    const { action } = await parts.publish({ descriptor: { posted: { postId, text: 'x' } } });
    await letExpire(parts, action.id, new Date(Date.now() - 60_000 + ids.length));
    ids.push(action.id);
  }
  const broken = new Error('broken');
  const errors: unknown[] = [];
  const expire: typeof moderation.expire = (id, at) =>
    id === ids[0] ? Promise.reject(broken) : moderation.expire(id, at);
  await using worker = expiryWorker({
    core: { ...parts.core, moderation: { ...moderation, expire } },
    onError: (error) => errors.push(error),
  });
  expect(await worker.round(new Date())).toBe(false);
  expect(errors).toEqual([broken]);
  expect(await moderation.expired(new Date(), 10)).toEqual(ids.slice(0, 1));
});
