import { ObjectId } from 'mongodb';
import type { NewsfeedItemDocument } from '../../../src/storage/documents/documents.ts';
import { expect, test } from 'vitest';
import { openParts, silentObserver, type Parts } from '../../support/parts.ts';
import { claimOne } from '../../support/claim-one.ts';

const ref = (id: string) => ({ id, type: 'site', label: id });

async function people(parts: Parts): Promise<void> {
  await parts.services.upsertMembers(parts.service, [
    { memberId: 'actor', name: 'Actor', teamId: 't', departmentId: 'd' },
    { memberId: 'mate', name: 'Mate', teamId: 't', departmentId: 'd' },
    { memberId: 'colleague', name: 'Colleague', teamId: 'other', departmentId: 'd' },
    { memberId: 'follower', name: 'Follower' },
    { memberId: 'fan', name: 'Fan' },
    { memberId: 'stranger', name: 'Stranger' },
  ]);
  await parts.services.followMany(parts.service, [
    { followerId: 'follower', refId: 'site' },
    { followerId: 'fan', refId: 'actor' },
  ]);
}

const EVERYBODY = ['actor', 'mate', 'colleague', 'follower', 'fan', 'stranger', 'unknown'];

test.each([
  ['FOLLOWERS', {}, ['follower', 'fan']],
  ['PUBLIC', {}, ['follower', 'fan']],
  ['TEAM', {}, ['actor', 'mate']],
  ['DEPARTMENT', {}, ['actor', 'mate', 'colleague']],
  ['RESTRICTED', { recipients: ['stranger', 'unknown'] }, ['stranger', 'unknown']],
  ['TEAM', { mentions: ['stranger', 'mate'] }, ['actor', 'mate', 'stranger']],
  ['FOLLOWERS', { mentions: ['unknown'] }, ['follower', 'fan', 'unknown']],
])('delivers scope %s with %j to %j and to nobody else', async (scope, more, readers) => {
  await using parts = await openParts();
  await people(parts);
  const { action } = await parts.publish({ scope, refs: [ref('site')], ...more });
  await parts.fanOut();
  const holders = [];
  for (const userId of EVERYBODY) if ((await parts.feedOf(userId)).length > 0) holders.push(userId);
  expect(holders.sort()).toEqual([...readers].sort());
  const [done] = await parts.repositories.actions.findByIds([action.id]);
  expect(done?.fanOut).toMatchObject({ state: 'DONE', delivered: readers.length, attempts: 1 });
});

test('delivers once, with every reason, to a reader reached in several ways', async () => {
  await using parts = await openParts();
  await parts.services.followMany(parts.service, [
    { followerId: 'ann', refId: 'r1' },
    { followerId: 'ann', refId: 'r2' },
    { followerId: 'ann', refId: 'actor' },
  ]);
  const { action } = await parts.publish({ refs: [ref('r1'), ref('r2')], mentions: ['ann'] });
  await parts.fanOut();
  const page = await parts.services.readFeed(parts.session('ann'), {});
  expect(page.edges.map((edge) => [edge.node.actionId, edge.node.reasons])).toEqual([
    [action.id, ['MENTION', 'FOLLOW']],
  ]);
  expect(await parts.database.db.collection('newsfeedItems').countDocuments()).toBe(1);
});

test('uses the follows and memberships of the recording time, however late it runs', async () => {
  await using parts = await openParts();
  await people(parts);
  await parts.publish({ scope: 'PUBLIC', refs: [ref('site')] });
  await parts.publish({ scope: 'TEAM' });
  await parts.services.follow(parts.session('stranger'), 'site', 0);
  await parts.services.upsertMembers(parts.service, [
    { memberId: 'stranger', name: 'Stranger', teamId: 't' },
  ]);
  await parts.fanOut();
  expect(await parts.feedOf('stranger')).toEqual([]);
  expect((await parts.feedOf('mate')).length).toBe(1);
});

test('retries a failing fan-out until its attempts are used up, keeps the error and can be retried by an admin', async () => {
  await using parts = await openParts();
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'actor' }]);
  const { action } = await parts.publish({});
  const failures: boolean[] = [];
  const failed = new Promise<void>((resolve) => {
    const worker = parts.worker(
      { maxAttempts: 2 },
      {
        feedStore: { ...parts.feedStore, deliver: () => Promise.reject(new Error('The disk is full')) },
        observer: {
          ...silentObserver,
          failed: (_claim, _error, isFinal) => {
            failures.push(isFinal);
            if (isFinal) void worker.stop().then(resolve);
          },
        },
      },
    );
    worker.start();
  });
  await failed;
  expect(failures).toEqual([false, true]);
  const [given] = (
    await parts.services.listActions(parts.session('admin', 'admin'), { fanOutState: 'FAILED' })
  ).edges;
  expect(given?.node.id).toBe(action.id);
  expect(given?.node.fanOut).toMatchObject({ state: 'FAILED', attempts: 2, error: 'The disk is full' });

  await expect(parts.services.retryFanOut(parts.service, action.id)).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
  const retried = await parts.services.retryFanOut(parts.admin, action.id);
  expect(retried.fanOut).toMatchObject({ state: 'PENDING', attempts: 0 });
  await parts.fanOut();
  expect(await parts.feedOf('ann')).toEqual([action.id]);
  await expect(parts.services.retryFanOut(parts.admin, action.id)).rejects.toMatchObject({
    code: 'CONFLICT',
  });
  await expect(parts.services.retryFanOut(parts.admin, 'f'.repeat(24))).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});

test.each([
  [
    'hidden',
    (parts: Parts, id: string) => parts.services.hideAction(parts.session('admin', 'admin'), id, null),
    [],
  ],
  [
    'readdressed',
    (parts: Parts, id: string) =>
      parts.services.updateAction(parts.session('actor'), id, { mentions: ['bob'] }),
    ['bob'],
  ],
] as const)(
  'runs the pass for an action that was %s while its last attempt failed',
  async (_, change, readers) => {
    await using parts = await openParts();
    const { action } = await parts.publish({ scope: 'RESTRICTED', recipients: ['actor'], mentions: ['ann'] });
    await parts.fanOut();
    await parts.repositories.fanOuts.requestPass(action.id, new Date());
    const { feedStore } = parts;
    const finals: boolean[] = [];
    await using worker = parts.worker(
      { maxAttempts: 1 },
      {
        feedStore: {
          ...feedStore,
          async deliver(chunk) {
            if (finals.length > 0) return feedStore.deliver(chunk);
            await change(parts, action.id);
            throw new Error('It does not fit');
          },
        },
        observer: { ...silentObserver, failed: (_claim, _error, isFinal) => finals.push(isFinal) },
      },
    );
    worker.start();
    await parts.idle();
    expect(finals).toEqual([false]);
    expect(
      (await feedStore.holders(action.id, { limit: 10 })).filter((userId) => userId !== 'actor'),
    ).toEqual(readers);
    const [done] = await parts.repositories.actions.findByIds([action.id]);
    expect(done?.fanOut).toMatchObject({ state: 'DONE', error: null });
  },
);

test("takes over a dead worker's action, from its checkpoint, once its lease has expired", async () => {
  await using parts = await openParts();
  const followers = Array.from({ length: 250 }, (_, n) => `f${String(n).padStart(3, '0')}`);
  await parts.services.followMany(
    parts.service,
    followers.map((followerId) => ({ followerId, refId: 'actor' })),
  );
  const { action } = await parts.publish({});
  const { fanOuts } = parts.repositories;
  const now = new Date();
  const dead = await claimOne(fanOuts, 'dead', now, 5);
  expect(dead?.action.id).toBe(action.id);
  expect(await claimOne(fanOuts, 'other', now, 5)).toBeNull();
  // It wrote its first chunk and its checkpoint, and half of the second chunk.
  const reader = (userId: string) => ({ userId, relevancy: action.latest, reasons: ['FOLLOW' as const] });
  await parts.feedStore.deliver([
    {
      actionId: action.id,
      readers: followers.slice(0, 150).map(reader),
      isFirstAttempt: true,
    },
  ]);
  const progress = { afterUserId: followers[99] ?? '', delivered: 100 };
  expect(dead !== null && (await fanOuts.checkpoint(dead, progress, new Date(now.getTime() + 5)))).toBe(
    'LIVE',
  );
  await parts.fanOut();
  const [done] = await parts.repositories.actions.findByIds([action.id]);
  expect(done?.fanOut).toMatchObject({ state: 'DONE', attempts: 2, delivered: 250 });
  const items = await parts.database.db.collection<NewsfeedItemDocument>('newsfeedItems').find().toArray();
  expect(items.map((item) => item.userId).sort()).toEqual(followers);
  expect(dead !== null && (await fanOuts.checkpoint(dead, progress, new Date()))).toBeNull();
  expect(dead !== null && (await fanOuts.finish([{ claim: dead, delivered: 250 }])).size).toBe(0);
});

test('gives up an action that kills every worker that claims it', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({});
  for (let attempt = 0; attempt < 3; attempt++)
    await claimOne(parts.repositories.fanOuts, `dead${String(attempt)}`, new Date(), 0);
  await parts.fanOut();
  const [given] = await parts.repositories.actions.findByIds([action.id]);
  expect(given?.fanOut.state).toBe('FAILED');
  expect(given?.fanOut.error).toMatch(/died or lost its lease/);
});

test('withdraws a hidden action from every feed, also after a late write of a stale worker', async () => {
  await using parts = await openParts();
  await parts.services.followMany(
    parts.service,
    Array.from({ length: 30 }, (_, n) => ({ followerId: `f${String(n)}`, refId: 'actor' })),
  );
  const { action } = await parts.publish({});
  const { fanOuts } = parts.repositories;
  const stale = await claimOne(fanOuts, 'stale', new Date(), 0);
  await parts.fanOut();
  expect(await parts.database.db.collection('newsfeedItems').countDocuments()).toBe(30);
  await parts.database.collections.actions.updateOne(
    { _id: new ObjectId(action.id) },
    { $set: { isHidden: true } },
  );
  await fanOuts.requestPass(action.id, new Date());
  await parts.fanOut();
  expect(await parts.database.db.collection('newsfeedItems').countDocuments()).toBe(0);
  // The stale worker wakes up, writes, finds its claim void and asks for one more pass.
  await parts.feedStore.deliver([
    {
      actionId: action.id,
      readers: [{ userId: 'f1', relevancy: action.latest, reasons: ['FOLLOW'] }],
      isFirstAttempt: true,
    },
  ]);
  expect(await parts.feedOf('f1')).toEqual([]);
  expect(stale !== null && (await fanOuts.finish([{ claim: stale, delivered: 1 }])).size).toBe(0);
  await fanOuts.requestPass(action.id, new Date());
  await parts.fanOut();
  expect(await parts.database.db.collection('newsfeedItems').countDocuments()).toBe(0);
});

test('a batch that has lost all its claims ends nothing', async () => {
  await using parts = await openParts();
  expect(await parts.repositories.fanOuts.finish([])).toEqual(new Set());
});

test('runs one more pass for a change during a pass', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({});
  const { fanOuts } = parts.repositories;
  const claim = await claimOne(fanOuts, 'w', new Date(), 60_000);
  for (let n = 0; n < 3; n++) await fanOuts.requestPass(action.id, new Date());
  expect(await claimOne(fanOuts, 'other', new Date(), 60_000)).toBeNull();
  expect(claim !== null && (await fanOuts.finish([{ claim, delivered: 0 }])).size).toBe(0);
  const released = { error: null, notBefore: new Date(), ended: 'in-order' } as const;
  expect(claim !== null && (await fanOuts.release([claim], released))).toBe(true);
  await parts.fanOut();
  const [done] = await parts.repositories.actions.findByIds([action.id]);
  expect(done?.fanOut).toMatchObject({ state: 'DONE', version: 4 });
});

test('releases its work when it is stopped, and another worker continues from there', async () => {
  await using parts = await openParts();
  await parts.services.followMany(
    parts.service,
    Array.from({ length: 600 }, (_, n) => ({ followerId: `f${String(n).padStart(3, '0')}`, refId: 'actor' })),
  );
  const { action } = await parts.publish({});
  const stopped = new Promise<void>((resolve) => {
    let stopping: Promise<void> | null = null;
    const worker = parts.worker(
      {},
      {
        feedStore: {
          ...parts.feedStore,
          deliver: async (chunk) => {
            // Stopping waits for this very delivery, and for those side by side with it.
            stopping ??= worker.stop().then(resolve);
            return parts.feedStore.deliver(chunk);
          },
        },
      },
    );
    worker.start();
  });
  await stopped;
  const [handed] = await parts.repositories.actions.findByIds([action.id]);
  expect(handed?.fanOut).toMatchObject({ state: 'PENDING', attempts: 0 });
  // As many chunks may have been under way as are delivered side by side, and no more.
  expect([100, 200, 300]).toContain(handed?.fanOut.delivered);
  await parts.fanOut();
  const [done] = await parts.repositories.actions.findByIds([action.id]);
  expect(done?.fanOut).toMatchObject({ state: 'DONE', attempts: 1, delivered: 600 });
  expect(await parts.database.db.collection('newsfeedItems').countDocuments()).toBe(600);
});

test('runs a postponed pass when it is due, without a wake-up or a poll', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ mentions: ['bob'] });
  await parts.fanOut();
  const { fanOuts, engagement } = parts.repositories;
  const now = new Date();
  await engagement.markInteraction(action.id, { change: { kind: 'none' }, boost: now, now }, null);
  expect(await fanOuts.nextDue(new Date(0))).not.toBeNull();
  await using worker = parts.worker({ pollMs: 600_000 });
  worker.start();
  await parts.idle();
  expect(await fanOuts.nextDue(new Date(0))).toBeNull();
});

test('one action that cannot be stored fails alone, is retried, and the others of its batch are delivered', async () => {
  await using parts = await openParts();
  await people(parts);
  const outcomes = await parts.services.publishActions(
    parts.service,
    ['one', 'two', 'three'].map((title) => ({
      ...{ actorId: 'actor', scope: 'RESTRICTED' as const, recipients: ['fan'] },
      descriptor: { custom: { verb: 'met', objectType: 'site', objectId: title } },
    })),
  );
  const ids = outcomes.flatMap(({ action }) => action?.id ?? []);
  const [, bad] = ids;
  const { feedStore } = parts.core;
  let isBroken = true;
  const breaking = {
    ...feedStore,
    deliver: (chunks: Parameters<typeof feedStore.deliver>[0]) =>
      isBroken && chunks.some(({ actionId }) => actionId === bad)
        ? Promise.reject(new Error('It cannot be stored'))
        : feedStore.deliver(chunks),
  };
  const failed: string[] = [];
  let batches = 0;
  const observer = {
    ...silentObserver,
    failed: ({ action }: { readonly action: { readonly id: string } }) => {
      failed.push(action.id);
      isBroken = false;
    },
    batchFailed: () => {
      batches += 1;
    },
  };
  // As many as wait: which of equally old ones come first is not said, and the one that fails may not be claimed alone.
  await using worker = parts.worker({ observer, concurrency: ids.length }, { feedStore: breaking });
  worker.start();
  await parts.idle();
  expect([failed, batches]).toEqual([[bad], 1]);
  expect((await parts.feedOf('fan')).sort()).toEqual([...ids].sort());
  const stored = await parts.repositories.actions.findByIds(ids);
  expect(new Map(stored.map(({ id, fanOut }) => [id, fanOut.attempts])).get(bad ?? '')).toBe(2);
});
