import { expect, test } from 'vitest';
import { anySpanContains } from '../../../src/domain/follow-span.ts';
import { follow } from '../../../src/features/follow/follow.ts';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { createRepositories } from '../../../src/app/repositories.ts';
import { PULL_NOTICE_MS } from '../../../src/feed/store/pulled-refs.ts';
import { upkeep } from '../../../src/features/upkeep/jobs/upkeep.ts';
import { Crash, crashingCollections } from '../../support/crashing.ts';
import { FOLLOW_CALLS, followDependencies, MOST_WRITES } from '../../support/follow-calls.ts';
import { openLiveList } from '../../support/live-list.ts';
import { reporting, runnerOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const PAIR = { followerId: 'ann', refId: 'site' };
/** Three actions, the last of them published after the follow, if there is one. Returns their ids, newest first. */
async function openScene(parts: Parts, isFollowed: boolean): Promise<string[]> {
  const ids: string[] = [];
  for (const actorId of ['one', 'two', 'three']) {
    if (actorId === 'three' && isFollowed) await parts.services.follow(parts.session('ann'), 'site', 0);
    const refs = [{ id: 'site', type: 'site', label: 'Site' }];
    const { action } = await parts.publish({ actorId, refs });
    ids.unshift(action.id);
  }
  await parts.fanOut();
  await parts.services.followMany(parts.service, [{ followerId: 'bob', refId: 'site' }]);
  return ids;
}

/** As the workers do it, a minute later. */
async function settle(parts: Parts, afterMs = 62_000): Promise<void> {
  await runnerOf(upkeep, parts.core).round(new Date(Date.now() + afterMs));
  await parts.fanOut();
}

/** What the spans of the follow say the feed holds. */
async function expectedFeed(parts: Parts, ids: readonly string[]): Promise<string[]> {
  const { follows, actions } = parts.repositories;
  const [found] = await follows.find('ann', ['site']);
  const published = await actions.findByIds(ids);
  return ids.filter((id) =>
    published.some((action) => action.id === id && anySpanContains(found?.spans ?? [], action)),
  );
}

async function expectSettled(parts: Parts, ids: readonly string[]): Promise<void> {
  const { follows, refs } = parts.repositories;
  expect(await follows.unsettled([PAIR])).toEqual([]);
  const [ref] = await refs.findByIds(['site']);
  expect(ref?.followerCount).toBe(await follows.countFollowers('site'));
  expect(await parts.feedOf('ann')).toEqual(await expectedFeed(parts, ids));
}

test.each(FOLLOW_CALLS)(
  'completes a $name that was interrupted after any write and not repeated',
  async (call) => {
    let crashes = 0;
    for (let writes = 1; writes <= MOST_WRITES; writes++) {
      await using parts = await openParts();
      const ids = await openScene(parts, call.isFollowed);
      await using list = await openLiveList(parts, parts.session('ann').identity);
      const dying = createRepositories(crashingCollections(parts.database.collections, writes));
      const outcome = await call
        .run(parts, followDependencies(parts, dying))
        .catch((error: unknown) => error);
      if (!(outcome instanceof Error)) break;
      expect(outcome).toBeInstanceOf(Crash);
      crashes += 1;
      await settle(parts);
      await expectSettled(parts, ids);
      await list.caughtUp();
      expect([...list.shown.keys()].sort()).toEqual([...(await parts.feedOf('ann'))].sort());
    }
    // A follow that has nothing to extend any more has one write.
    expect(crashes).toBeGreaterThan(0);
    expect(crashes).toBeLessThan(MOST_WRITES);
  },
);

test('makes watchers query what an interrupted follow added but did not announce', async () => {
  await using parts = await openParts();
  const ids = await openScene(parts, false);
  await using list = await openLiveList(parts, parts.session('ann').identity);
  const { follows, actions } = parts.repositories;
  const oldest = await actions.nthNewest('site', 2);
  if (oldest === null) throw new Error('Nothing was published');
  const tokens = { opened: newObjectId(), extended: newObjectId(), changed: newObjectId() };
  await follows.open([{ ...PAIR, since: oldest.recorded, sinceAction: oldest.id }], tokens);
  const brought = await actions.findByIds(ids.slice(0, 2));
  await parts.feedStore.fill(
    'ann',
    brought.map(({ id, latest }) => ({ actionId: id, relevancy: latest, reasons: ['FOLLOW'] })),
  );
  // It came as far as this.
  await settle(parts);
  await expectSettled(parts, ids);
  await list.caughtUp();
  expect([...list.shown.keys()].sort()).toEqual(ids.slice(0, 2).sort());
  expect(list.resyncs).toEqual(['log-interrupted']);
});

test('does not touch a call that may still be running', async () => {
  await using parts = await openParts();
  await openScene(parts, false);
  const dying = createRepositories(crashingCollections(parts.database.collections, 1));
  await expect(follow(followDependencies(parts, dying), parts.session('ann'), 'site', 2)).rejects.toThrow(
    Crash,
  );
  await settle(parts, 0);
  expect(await parts.repositories.follows.unsettled([PAIR])).toHaveLength(1);
});

test('an unfollow that keeps history keeps what an interrupted follow had not added yet', async () => {
  await using parts = await openParts();
  const ids = await openScene(parts, false);
  const dying = createRepositories(crashingCollections(parts.database.collections, 1));
  await expect(follow(followDependencies(parts, dying), parts.session('ann'), 'site', 2)).rejects.toThrow(
    Crash,
  );
  await parts.services.unfollow(parts.session('ann'), 'site', true);
  await parts.fanOut();
  await expectSettled(parts, ids);
  expect(await parts.feedOf('ann')).toEqual(ids.slice(0, 2));
});

test('a failure of one kind of upkeep does not stop the others', async () => {
  await using parts = await openParts();
  await parts.publish({ actorId: 'star', scope: 'PUBLIC' });
  for (const fan of ['ann', 'bob']) await parts.services.follow(parts.session(fan), 'star', 0);
  const broken = new Error('follows cannot be read');
  const errors: unknown[] = [];
  const worker = runnerOf(
    upkeep,
    {
      ...parts.core,
      follows: { ...parts.repositories.follows, unsettledBefore: () => Promise.reject(broken) },
    },
    { feeds: { celebrityThreshold: 1 }, logger: reporting((error) => errors.push(error)) },
  );
  await worker.round(new Date(Date.now() - PULL_NOTICE_MS));
  expect(errors).toEqual([broken]);
  expect([...(await parts.repositories.refs.pulled()).keys()]).toEqual(['star']);
});
