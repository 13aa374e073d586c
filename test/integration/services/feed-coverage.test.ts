import { describe, expect, test } from 'vitest';
import { raiseFloors, trimDue } from '../../../src/feed/trim-feeds.ts';
import type { JobRunner } from '../../../src/jobs/job.ts';
import { PULL_NOTICE_MS } from '../../../src/feed/store/pulled-refs.ts';
import { upkeep } from '../../../src/features/upkeep/jobs/upkeep.ts';
import { runnerOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const DAY = 86_400_000;

/** Ids of a feed by pages of this size. */
async function pages(parts: Parts, userId: string, first: number): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<Parts['services']['readFeed']>> = await parts.services.readFeed(
      parts.session(userId),
      { first, after },
    );
    ids.push(...page.edges.map((edge) => edge.node.actionId));
    if (!page.hasMore) return ids;
    after = page.end;
  }
}

/** Actions of an actor on a ref, a day apart, oldest first. Returns their ids, newest first. */
async function publish(parts: Parts, count: number, refId = 'site'): Promise<string[]> {
  const now = Date.now();
  const outcomes = await parts.services.publishActions(
    parts.service,
    Array.from({ length: count }, (_, n) => ({
      actorId: 'actor',
      refs: [{ id: refId, type: 'site', label: refId }],
      conducted: new Date(now - (count - n) * DAY),
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
    })),
  );
  return outcomes.map((outcome) => outcome.action?.id ?? '').reverse();
}

async function bump(parts: Parts, actionId: string): Promise<void> {
  await parts.services.addInteraction(parts.session('svc', 'admin'), { actionId, kind: 'COMMENT' });
}

async function follow(parts: Parts, userId: string, ...refIds: string[]): Promise<void> {
  await parts.services.followMany(
    parts.service,
    refIds.map((refId) => ({ followerId: userId, refId })),
  );
}

function keeperOf(parts: Parts, celebrityThreshold: number): JobRunner {
  return runnerOf(upkeep, parts.core, { feeds: { celebrityThreshold } });
}

/** When it began for refs to be pulled now. */
const inTime = (): Date => new Date(Date.now() - PULL_NOTICE_MS - 1);

describe('a feed that is stored in part', () => {
  test('continues from the source below the floor, to the very first action, in pages of any size', async () => {
    await using parts = await openParts({ cap: 10 });
    await follow(parts, 'ann', 'site');
    const ids = await publish(parts, 45);
    for (const n of [7, 20, 21, 40]) await bump(parts, ids[n] ?? '');
    await parts.fanOut();
    const whole = await pages(parts, 'ann', 100);
    expect([...whole].sort()).toEqual([...ids].sort());
    await parts.repositories.feedRebuilds.markDue(['ann'], new Date());
    await parts.feedStore.drop('ann');
    await parts.fanOut();
    expect((await parts.feedStore.page({ userId: 'ann', limit: 1_000 })).entries).toHaveLength(10);
    for (const size of [1, 7, 9, 10, 11, 100]) expect(await pages(parts, 'ann', size)).toEqual(whole);
  });

  test('is trimmed step by step, and nothing is missing before, meanwhile and afterwards', async () => {
    await using parts = await openParts({ cap: 20 });
    await follow(parts, 'ann', 'site');
    const ids = await publish(parts, 60);
    await parts.fanOut();
    const whole = await pages(parts, 'ann', 100);
    const cut = { ...parts.core, cap: 20 };
    await raiseFloors(cut, ['ann', 'nobody'], () => 0);
    expect((await parts.session('ann').profile()).floor).not.toBeNull();
    expect(await pages(parts, 'ann', 13)).toEqual(whole);
    expect(await trimDue(cut, new Date())).toBe(0);
    expect(await trimDue(cut, new Date(Date.now() + DAY))).toBe(1);
    expect((await parts.feedStore.page({ userId: 'ann', limit: 100 })).entries).toHaveLength(20);
    expect(await pages(parts, 'ann', 13)).toEqual(whole);
    await bump(parts, ids[50] ?? '');
    await parts.fanOut();
    const after = await pages(parts, 'ann', 13);
    // A tenth of the way, for somebody whom it does not concern: it stays below the floor, and has moved there.
    expect(after.indexOf(ids[50] ?? '')).toBeLessThan(50);
    expect([...after].sort()).toEqual([...ids].sort());
  });

  test.each(['items', 'time-buckets'])(
    'is not trimmed while a rebuild stores entries below the floor, feeds, feedRebuilds stored by %s',
    async (model) => {
      await using parts = await openParts({ model, cap: 5 });
      await follow(parts, 'ann', 'site', 'other');
      const ids = await publish(parts, 20);
      await publish(parts, 20, 'other');
      await parts.fanOut();
      const { feedStore } = parts;
      const cut = { ...parts.core, cap: 5 };
      await raiseFloors(cut, ['ann'], () => 0);
      const soon = new Date(Date.now() + DAY);
      // Half of what is above the floor goes, so that the rebuild continues below it.
      await parts.services.unfollow(parts.session('ann'), 'other', false);
      await parts.services.rebuildFeed(parts.admin, 'ann');
      await using rebuilds = parts.rebuildWorker({
        feedStore: {
          ...feedStore,
          async fill(userId, entries, options) {
            const added = await feedStore.fill(userId, entries, options);
            if (options?.isCompleteDownTo !== undefined) await trimDue(cut, soon);
            return added;
          },
        },
      });
      rebuilds.start();
      await parts.idle();
      expect(await pages(parts, 'ann', 3)).toEqual(ids);
      expect(await trimDue(cut, soon)).toBe(1);
      expect(await pages(parts, 'ann', 3)).toEqual(ids);
    },
  );

  test('is rebuilt only after it was trimmed', async () => {
    await using parts = await openParts({ cap: 5 });
    await follow(parts, 'ann', 'site');
    const ids = await publish(parts, 20);
    await parts.fanOut();
    const { feedStore, repositories } = parts;
    const { feedRebuilds } = repositories;
    const cut = { ...parts.core, cap: 5 };
    await raiseFloors(cut, ['ann'], () => 0);
    const claims: unknown[] = [];
    const asking = {
      ...feedStore,
      async trim(...given: Parameters<typeof feedStore.trim>) {
        await feedRebuilds.markDue(['ann'], new Date());
        claims.push(await feedRebuilds.claimDue(new Date(), 30_000));
        await feedStore.trim(...given);
      },
    };
    expect(await trimDue({ ...cut, feedStore: asking }, new Date(Date.now() + DAY))).toBe(1);
    expect(claims).toEqual([[]]);
    await parts.fanOut();
    expect(await pages(parts, 'ann', 3)).toEqual(ids);
  });

  test('counts unread items and finds single items below the floor as well', async () => {
    await using parts = await openParts({ cap: 5 });
    await follow(parts, 'ann', 'site');
    const ids = await publish(parts, 30);
    await parts.fanOut();
    await parts.services.rebuildFeed(parts.admin, 'ann');
    await parts.fanOut();
    await parts.feedStore.trim(
      'ann',
      (await parts.session('ann').profile()).floor ?? { relevancy: new Date(0), actionId: '' },
    );
    expect(await parts.services.countUnread(parts.session('ann'))).toEqual({ count: 30, isExact: true });
    expect((await parts.services.getNewsfeedItem(parts.session('ann'), ids[29] ?? ''))?.actionId).toBe(
      ids[29],
    );
    expect(await parts.services.getNewsfeedItem(parts.session('bob'), ids[29] ?? '')).toBeNull();
    const since = new Date(Date.now() - 12.5 * DAY);
    const ranged = await parts.services.readFeed(parts.session('ann'), { first: 100, filter: { since } });
    expect(ranged.edges.map((edge) => edge.node.actionId)).toEqual(ids.slice(0, 12));
  });
});

describe('a reader who has not read for long', () => {
  const dormantAfterMs = 60_000;

  async function asleep(parts: Parts, userId: string): Promise<void> {
    await parts.services.readFeed(parts.session(userId), {});
    await parts.database.collections.feeds.updateOne(
      { _id: userId },
      { $set: { activeAt: new Date(Date.now() - 2 * dormantAfterMs) } },
    );
  }

  test('is skipped, and finds everything on return: at once from the source, then stored', async () => {
    await using parts = await openParts({ dormantAfterMs });
    await follow(parts, 'ann', 'site');
    await follow(parts, 'bob', 'site');
    await asleep(parts, 'ann');
    const ids = await publish(parts, 5);
    await parts.fanOut();
    expect((await parts.feedStore.page({ userId: 'ann', limit: 10 })).entries).toEqual([]);
    expect((await parts.feedStore.page({ userId: 'bob', limit: 10 })).entries).toHaveLength(5);
    const first = await parts.services.readFeed(parts.session('ann'), { first: 3 });
    expect(first.state).toBe('REBUILDING');
    expect(first.edges.map((edge) => edge.node.actionId)).toEqual(ids.slice(0, 3));
    expect(await pages(parts, 'ann', 2)).toEqual(ids);
    await parts.fanOut();
    expect((await parts.feedStore.page({ userId: 'ann', limit: 10 })).entries).toHaveLength(5);
    const again = await parts.services.readFeed(parts.session('ann'), { first: 3 });
    expect(again.state).toBe('READY');
    expect(await pages(parts, 'ann', 2)).toEqual(ids);
  });

  test('misses nothing when they come back in the middle of a delivery', async () => {
    await using parts = await openParts({ dormantAfterMs });
    const readers = Array.from({ length: 9 }, (_, n) => `r${String(n).padStart(2, '0')}`);
    for (const reader of readers) await follow(parts, reader, 'site');
    for (const reader of readers) await asleep(parts, reader);
    const ids = await publish(parts, 1);
    const { feeds } = parts.repositories;
    await using worker = parts.worker(
      { concurrency: 1 },
      {
        chunkSize: 3,
        skipDormant: async (userIds) => {
          const skipped = await feeds.skipDormant(userIds, {
            read: new Date(Date.now() - dormantAfterMs),
            neverRead: null,
          });
          // Everybody of the chunk comes back after they were skipped, and one of each next chunk before.
          for (const userId of userIds) await parts.services.readFeed(parts.session(userId), {});
          const next = readers[readers.indexOf(userIds.at(-1) ?? '') + 1];
          if (next !== undefined) await parts.services.readFeed(parts.session(next), {});
          return new Set(skipped);
        },
      },
    );
    worker.start();
    await expect
      .poll(() => parts.repositories.actions.openFanOuts(), { timeout: PATIENCE_MS, interval: 5 })
      .toEqual({});
    for (const reader of readers) expect([reader, await pages(parts, reader, 5)]).toEqual([reader, ids]);
    await worker.stop();
    await parts.fanOut();
    for (const reader of readers) {
      expect([reader, await pages(parts, reader, 5)]).toEqual([reader, ids]);
      expect((await parts.feedStore.page({ userId: reader, limit: 10 })).entries).toHaveLength(1);
    }
  });

  test('loses nothing that skips them while their feed is being rebuilt', async () => {
    await using parts = await openParts({ dormantAfterMs });
    await follow(parts, 'ann', 'site');
    await asleep(parts, 'ann');
    await publish(parts, 1);
    await parts.fanOut();
    const { feeds, feedRebuilds } = parts.repositories;
    await feedRebuilds.markDue(['ann'], new Date());
    const [claim] = await feedRebuilds.claimDue(new Date(), 30_000);
    await publish(parts, 1);
    expect(
      await feeds.skipDormant(['ann'], { read: new Date(Date.now() - dormantAfterMs), neverRead: null }),
    ).toEqual(['ann']);
    if (claim !== undefined)
      await feedRebuilds.finishRebuild(claim, { floor: null, now: new Date(), trimAt: new Date() });
    expect((await parts.session('ann').profile()).floor).not.toBeNull();
  });
});

test('a feed is rebuilt with another model, and nothing is missing meanwhile', async () => {
  await using parts = await openParts();
  await follow(parts, 'ann', 'site');
  const ids = await publish(parts, 8);
  await parts.fanOut();
  const { feedEpochs } = parts.database.collections;
  await feedEpochs.updateOne({ _id: 'feeds' }, { $set: { model: 'another' } });
  await using later = await parts.reopen();
  await later.feedStore.drop('ann');
  const page = await later.services.readFeed(later.session('ann'), { first: 3 });
  expect(page.state).toBe('REBUILDING');
  expect(await pages(later, 'ann', 3)).toEqual(ids);
  await later.fanOut();
  expect((await later.services.readFeed(later.session('ann'), { first: 3 })).state).toBe('READY');
  expect(await pages(later, 'ann', 3)).toEqual(ids);
});

test('a feed that Redis has lost is rebuilt when it is read, and nothing is missing meanwhile', async () => {
  await using parts = await openParts({ model: 'redis' });
  await follow(parts, 'ann', 'site');
  const ids = await publish(parts, 8);
  await parts.fanOut();
  const isLost = async (): Promise<boolean> =>
    (await parts.feedStore.page({ userId: 'ann', limit: 1 })).isLost === true;
  for (let round = 0; round < 2; round += 1) {
    // At first it was never made; then it has gone, as at the end of its lifetime or with Redis.
    await parts.feedStore.drop('ann');
    expect(await isLost()).toBe(true);
    expect(await pages(parts, 'ann', 3)).toEqual(ids);
    expect((await parts.services.readFeed(parts.session('ann'), {})).state).toBe('REBUILDING');
    await parts.fanOut();
    expect(await isLost()).toBe(false);
    expect((await parts.services.readFeed(parts.session('ann'), {})).state).toBe('READY');
    expect(await pages(parts, 'ann', 3)).toEqual(ids);
    ids.unshift(...(await publish(parts, 1)));
    await parts.fanOut();
    expect(await isLost()).toBe(false);
    expect(await pages(parts, 'ann', 3)).toEqual(ids);
  }
});

describe('a ref with very many followers', () => {
  const readers = ['ann', 'bob', 'cid', 'dan', 'eve'];

  test('is pulled above the threshold, and pushed again below it; nothing is lost or repeated', async () => {
    await using parts = await openParts({ pullRefreshMs: -1 });
    await using keeper = keeperOf(parts, 3);
    for (const reader of readers.slice(0, 3)) await follow(parts, reader, 'site');
    await keeper.round(inTime());
    const before = await publish(parts, 3);
    await parts.fanOut();
    for (const reader of readers.slice(3)) await follow(parts, reader, 'site');
    await keeper.round(inTime());
    const pulled = await publish(parts, 4);
    await parts.fanOut();
    expect((await parts.feedStore.page({ userId: 'ann', limit: 10 })).entries).toHaveLength(3);
    for (const reader of readers.slice(2)) await parts.services.unfollow(parts.session(reader), 'site', true);
    await keeper.round(inTime());
    const after = await publish(parts, 2);
    await parts.fanOut();
    const all = [...before, ...pulled, ...after];
    const byAge = async (reader: string): Promise<string[]> => pages(parts, reader, 2);
    const expected = (
      await parts.database.collections.actions.find().sort({ conducted: -1, _id: -1 }).toArray()
    ).map(({ _id }) => _id.toHexString());
    expect(expected).toHaveLength(all.length);
    expect(await byAge('ann')).toEqual(expected);
    expect(await byAge('cid')).toEqual(expected.filter((id) => !after.includes(id)));
    expect(await byAge('eve')).toEqual(expected.filter((id) => pulled.includes(id)));
    const item = await parts.services.getNewsfeedItem(parts.session('eve'), pulled[0] ?? '');
    expect(item?.reasons).toEqual(['PULL']);
    expect(await parts.services.countUnread(parts.session('ann'))).toEqual({ count: 9, isExact: true });
  });

  test('shows an action once that is both pushed and pulled, with every reason', async () => {
    await using parts = await openParts({ pullRefreshMs: -1 });
    await using keeper = keeperOf(parts, 1);
    await follow(parts, 'ann', 'site', 'actor');
    await follow(parts, 'bob', 'site');
    await keeper.round(inTime());
    const { action } = await parts.publish({
      refs: [{ id: 'site', type: 'site', label: 'Site' }],
      mentions: ['ann'],
    });
    await publish(parts, 3);
    await parts.fanOut();
    const { edges } = await parts.services.readFeed(parts.session('ann'), {});
    const items = edges.filter((edge) => edge.node.actionId === action.id);
    expect(items.map((edge) => [...edge.node.reasons].sort())).toEqual([['FOLLOW', 'MENTION', 'PULL']]);
    expect(edges).toHaveLength(4);
  });

  test('is bumped, hidden, shown again and muted as if it were pushed', async () => {
    await using parts = await openParts({ pullRefreshMs: -1 });
    await using keeper = keeperOf(parts, 1);
    await follow(parts, 'ann', 'site');
    await follow(parts, 'bob', 'site');
    await keeper.round(inTime());
    const ids = await publish(parts, 4);
    await parts.fanOut();
    expect(await pages(parts, 'ann', 1)).toEqual(ids);
    await bump(parts, ids[3] ?? '');
    await parts.services.upsertMembers(parts.service, [
      { memberId: 'ann', name: 'Ann', supervisorId: 'svc' },
    ]);
    await parts.fanOut();
    expect(await pages(parts, 'ann', 1)).toEqual([ids[3], ids[0], ids[1], ids[2]]);
    await parts.services.hideAction(parts.session('admin', 'admin'), ids[1] ?? '', null);
    expect(await pages(parts, 'ann', 1)).toEqual([ids[3], ids[0], ids[2]]);
    await parts.services.addMute(parts.session('ann'), { memberId: 'actor' });
    expect(await pages(parts, 'ann', 1)).toEqual([]);
  });

  test('is read completely by a reader with more of its actions on a page than one read returns', async () => {
    await using parts = await openParts({ pullRefreshMs: -1 });
    await using keeper = keeperOf(parts, 1);
    await follow(parts, 'ann', 'site');
    await follow(parts, 'bob', 'site');
    await keeper.round(inTime());
    const ids = await publish(parts, 60);
    await parts.fanOut();
    expect(await pages(parts, 'ann', 7)).toEqual(ids);
    expect(await pages(parts, 'ann', 100)).toEqual(ids);
  });

  test('reaches watching followers', async () => {
    await using parts = await openParts({ pullRefreshMs: -1 });
    await using keeper = keeperOf(parts, 1);
    for (const reader of ['ann', 'bob']) await follow(parts, reader, 'site');
    await keeper.round(inTime());
    const ending = new AbortController();
    const watching = async (userId: string) => {
      const events = await parts.services.watchFeed(parts.session(userId).identity, {
        signal: ending.signal,
      });
      return events[Symbol.asyncIterator]();
    };
    const [ann, stranger] = [await watching('ann'), await watching('stranger')];
    expect((await ann.next()).value).toMatchObject({ kind: 'ready' });
    expect((await stranger.next()).value).toMatchObject({ kind: 'ready' });
    const [actionId = ''] = await publish(parts, 1);
    await parts.fanOut();
    expect((await ann.next()).value).toMatchObject({ kind: 'added', item: { actionId, reasons: ['PULL'] } });
    await parts.services.hideAction(parts.session('admin', 'admin'), actionId, null);
    await parts.fanOut();
    expect((await ann.next()).value).toMatchObject({ kind: 'removed', actionId });
    await parts.publish({ mentions: ['stranger'] });
    await parts.fanOut();
    // The first that comes to a stranger is what is for them.
    expect((await stranger.next()).value).toMatchObject({ kind: 'added', item: { reasons: ['MENTION'] } });
    ending.abort();
  });

  test('gives a page in one command to a reader who follows five thousand refs, two hundred of them pulled', async () => {
    await using parts = await openParts({ monitorCommands: true });
    const { refs } = parts.database.collections;
    const refIds = Array.from({ length: 5_000 }, (_, n) => `ref${String(n)}`);
    for (let from = 0; from < refIds.length; from += 1_000)
      await follow(parts, 'ann', ...refIds.slice(from, from + 1_000));
    await refs.updateMany(
      { _id: { $in: refIds.slice(0, 200) } },
      { $set: { isPulled: true, pullSince: new Date(0) } },
    );
    await using later = await parts.reopen({ monitorCommands: true });
    const pulledIds = await publish(later, 10, 'ref7');
    const pushedIds = await publish(later, 10, 'ref4000');
    await later.fanOut();
    const { commandsOf } = await import('../../support/commands.ts');
    await later.services.readFeed(later.session('ann'), {});
    const commands = await commandsOf(later.database, async () => {
      const { edges } = await later.services.readFeed(later.session('ann'), {});
      expect(edges.map((edge) => edge.node.actionId).sort()).toEqual([...pulledIds, ...pushedIds].sort());
    });
    // The reader with the stored page, what of the pulled refs they follow, and what is pulled with what else brings it.
    expect(commands.map(({ name, collection }) => `${name} ${collection}`)).toEqual(['aggregate feeds']);
  });
});
