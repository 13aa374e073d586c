import { expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import { publishSome } from '../../conformance/feed-tools.ts';
import { openLiveList, wholeList, type LiveList } from '../../support/live-list.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { watching } from '../../support/watching.ts';

const ANN = 'ann';
const ann = (parts: Parts) => parts.session(ANN).identity;

async function expectFeed(parts: Parts, list: LiveList, filter = {}): Promise<void> {
  await list.caughtUp();
  const feed = await wholeList(parts.services, parts.session(ANN), { filter, pageSize: 100 });
  expect([...list.shown.keys()].sort()).toEqual(feed.map(({ actionId }) => actionId).sort());
}

const MODELS = ['items', 'capped', 'redis', 'time-buckets', 'size-buckets', 'top-cache', 'pull'];

test.each(MODELS)(
  'reports every item that is removed with a follow, stored or not, with feeds stored by %s',
  async (model) => {
    await using parts = await openParts({ model, cap: 5 });
    const { services } = parts;
    const refs = ['one', 'two', 'three'];
    for (const refId of refs) {
      await publishSome(parts, 20, { refId });
      await services.follow(parts.session(ANN), refId, 1_000);
    }
    const mentioned = await publishSome(parts, 1, { refId: 'one', mentions: [ANN] });
    await parts.fanOut();
    await using list = await openLiveList(parts, ann(parts));
    expect(list.shown.size).toBe(61);
    await services.unfollow(parts.session(ANN), 'one', false);
    await expectFeed(parts, list);
    expect(list.resyncs).toEqual([]);
    expect(list.shown.size).toBe(41);
    expect(list.shown.get(mentioned[0] ?? '')?.reasons).toEqual(['MENTION']);
    const removed = list.events.filter(({ kind }) => kind === 'removed');
    expect(new Set(removed.map((event) => 'actionId' in event && event.actionId)).size).toBe(21);
  },
);

test('makes a reader query the feed again if more is removed than a log stores', async () => {
  await using parts = await openParts({ model: 'pull' });
  const { services } = parts;
  for (let n = 0; n < 3; n += 1) await publishSome(parts, 334);
  await services.follow(parts.session(ANN), 'site', 1_000);
  // Two actions more than any one follow brings along.
  await parts.database.collections.follows.updateOne(
    { followerId: ANN },
    { $set: { spans: [{ since: new Date(0) }] } },
  );
  await using list = await openLiveList(parts, ann(parts));
  expect(list.shown.size).toBe(1_002);
  await services.unfollow(parts.session(ANN), 'site', false);
  await expect.poll(() => list.resyncs, { timeout: 60_000 }).toEqual(['log-interrupted']);
  await expectFeed(parts, list);
});

test('costs an unfollow only a look-up of watchers', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await publishSome(parts, 3);
  await parts.services.follow(parts.session(ANN), 'site', 10);
  await parts.fanOut();
  const { newestOfRef } = parts.repositories.actions;
  let asked = 0;
  Object.assign(parts.repositories.actions, {
    newestOfRef: (...args: Parameters<typeof newestOfRef>) => {
      asked += 1;
      return newestOfRef(...args);
    },
  });
  await parts.services.unfollow(parts.session(ANN), 'site', false);
  expect(asked).toBe(0);
});

test('sends FeedResync to every tab when the reader mutes or unmutes', async () => {
  await using parts = await openParts();
  const { services } = parts;
  await parts.publish({ actorId: 'bob', scope: 'RESTRICTED', recipients: [ANN] });
  await parts.fanOut();
  await using one = await openLiveList(parts, ann(parts));
  await using other = await openLiveList(parts, ann(parts));
  await services.addMute(parts.session(ANN), { memberId: 'bob' });
  for (const list of [one, other]) {
    await expectFeed(parts, list);
    expect([...list.shown.keys()]).toEqual([]);
  }
  await services.removeMute(parts.session(ANN), { memberId: 'bob' });
  for (const list of [one, other]) {
    await expectFeed(parts, list);
    expect(list.shown.size).toBe(1);
    expect(list.resyncs).toEqual(['mutes', 'mutes']);
  }
});

test('sends FeedResync for a mark of everything', async () => {
  await using parts = await openParts();
  await parts.publish({ actorId: 'bob', scope: 'RESTRICTED', recipients: [ANN] });
  await parts.fanOut();
  const filter = { unreadOnly: true };
  await using unread = await openLiveList(parts, ann(parts), { filter });
  await using whole = await openLiveList(parts, ann(parts));
  expect(unread.shown.size).toBe(1);
  await parts.services.markFeedRead(parts.session(ANN), clock.now());
  await expectFeed(parts, unread, filter);
  await expectFeed(parts, whole);
  expect([unread.resyncs, whole.resyncs]).toEqual([['marks'], ['marks']]);
});

test.each(MODELS)(
  'sends FeedResync when a membership changes what the reader may see, by %s',
  async (model) => {
    await using parts = await openParts({ model, cap: 3 });
    const { services, service } = parts;
    await services.upsertMembers(
      service,
      ['actor', ANN, 'bob'].map((memberId) => ({ memberId, name: memberId, teamId: 'team' })),
    );
    for (let n = 0; n < 6; n += 1) await parts.publish({ actorId: 'actor', scope: 'TEAM' });
    await parts.fanOut();
    await using list = await openLiveList(parts, ann(parts));
    await using other = await openLiveList(parts, parts.session('bob').identity);
    expect(list.shown.size).toBe(6);
    await services.upsertMembers(service, [{ memberId: ANN, name: 'Ann', teamId: null }]);
    await expectFeed(parts, list);
    expect(list.shown.size).toBe(0);
    expect(list.resyncs).toEqual(['membership']);
    await other.caughtUp();
    expect(other.resyncs).toEqual([]);
    expect(other.shown.size).toBe(6);
  },
);

test('a change of membership that is interrupted before it is announced is announced by the rebuild', async () => {
  await using parts = await openParts({ model: 'pull' });
  const { services, service, repositories } = parts;
  const inTeam = (memberId: string) => ({ memberId, name: memberId, teamId: 'team' });
  await services.upsertMembers(service, ['actor', ANN].map(inTeam));
  await parts.publish({ actorId: 'actor', scope: 'TEAM' });
  await parts.fanOut();
  await using list = await openLiveList(parts, ann(parts));
  expect(list.shown.size).toBe(1);
  const { upsert } = repositories.members;
  Object.assign(repositories.members, {
    async upsert(...args: Parameters<typeof upsert>) {
      await upsert(...args);
      throw new Error('Cut off');
    },
  });
  const left = services.upsertMembers(service, [{ memberId: ANN, name: 'Ann', teamId: null }]);
  await expect(left).rejects.toThrow('Cut off');
  const { feedRebuilds } = repositories;
  await using rebuilds = parts.rebuildWorker({
    feedRebuilds: {
      ...feedRebuilds,
      // It waits for the call to come to its end.
      claimDue: (now, ...how) => feedRebuilds.claimDue(new Date(now.getTime() + 60_000), ...how),
    },
  });
  rebuilds.start();
  await parts.idle();
  await expect.poll(() => list.resyncs, { timeout: 60_000 }).toEqual(['log-interrupted']);
  await expectFeed(parts, list);
  expect(list.shown.size).toBe(0);
});

test('reports that an item leaves a list by time when it is bumped out of it', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({
    ...{ actorId: 'bob', scope: 'RESTRICTED', recipients: [ANN] },
    conducted: new Date('2026-01-01'),
  });
  await parts.fanOut();
  const filter = { until: new Date('2026-02-01') };
  await using list = await openLiveList(parts, ann(parts), { filter });
  expect(list.shown.size).toBe(1);
  const bob = parts.session('bob');
  await parts.services.addInteraction(bob, { actionId: action.id, kind: 'COMMENT' });
  await parts.fanOut();
  await expectFeed(parts, list, filter);
  expect(list.shown.size).toBe(0);
});

test('reports the current state, whatever order the events arrive in', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({
    ...{ actorId: 'bob', scope: 'RESTRICTED', recipients: [ANN] },
    conducted: new Date('2026-01-01'),
  });
  await parts.fanOut();
  const first = await watching(parts.services, ann(parts), {});
  const bob = parts.session('bob', 'admin');
  const at = new Date('2026-03-01T12:00:00Z');
  await parts.services.addInteraction(bob, { actionId: action.id, kind: 'COMMENT', at });
  await parts.fanOut();
  // Of a pass that was slow: it had placed the item before the comment came.
  const stale = { actionId: action.id, relevancy: action.conducted, reasons: ['RECIPIENT'] as const };
  await parts.live.liveLog.append([
    { userId: ANN, event: { kind: 'updated', ...stale } },
    { userId: ANN, event: { kind: 'removed', ...stale } },
  ]);
  for (let n = 0; n < 3; n += 1)
    expect(await first.next()).toMatchObject({ kind: 'updated', item: { relevancy: at } });
  await first[Symbol.asyncDispose]();
  await using again = await watching(parts.services, ann(parts), { after: first.cursor });
  for (let n = 0; n < 3; n += 1)
    expect(await again.next()).toMatchObject({ kind: 'updated', item: { relevancy: at } });
});
