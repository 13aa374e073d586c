import { expect, test } from 'vitest';
import { cappedFeedStore } from '../../src/capped/store.ts';
import { feedRingsRepository } from '../../src/capped/repository.ts';
import { follow } from '../../../../src/features/follow/follow.ts';
import { createRepositories } from '../../../../src/app/repositories.ts';
import { upkeep } from '../../../../src/features/upkeep/jobs/upkeep.ts';
import { idsOf, publishSome } from '../../../../test/conformance/feed-tools.ts';
import { Crash, crashingDatabase } from '../../../../test/support/crashing.ts';
import { followDependencies, MOST_WRITES } from '../../../../test/support/follow-calls.ts';
import { openLiveList } from '../../../../test/support/live-list.ts';
import { runnerOf } from '../../../../test/support/jobs.ts';
import { openParts, type Parts } from '../../../../test/support/parts.ts';

const CAP = 10;
const COUNT = 30;
const PAGE = 7;

interface Scene {
  readonly followed: readonly string[];
  readonly others: readonly string[];
}

/** A ref with more actions than a feed stores, or none yet, and another with as many of the same days. */
async function openScene(parts: Parts, isFull: boolean): Promise<Scene> {
  const followed = isFull ? (await publishSome(parts, COUNT, { refId: 'one' })).reverse() : [];
  const others = (await publishSome(parts, COUNT, { refId: 'two', timeOf: (n) => n - 0.5 })).reverse();
  await parts.fanOut();
  return { followed, others };
}

/** Follows the other ref in a process that dies after so many writes. False: it has no more writes than that. */
async function followAndDie(parts: Parts, reader: string, writes: number): Promise<boolean> {
  const dying = crashingDatabase(parts.database, writes);
  const { db } = dying;
  const rings = feedRingsRepository(
    {
      rings: db.collection('feedRings'),
      slots: db.collection('feedSlots'),
      entries: db.collection('feedSlots'),
    },
    CAP,
  );
  const dependencies = followDependencies(parts, createRepositories(dying.collections));
  const feedStore = cappedFeedStore(rings, CAP);
  try {
    await follow({ ...dependencies, feedStore }, parts.session(reader), 'two', COUNT);
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(Crash);
    return true;
  }
}

/** As a worker does it, a minute later. */
async function settle(parts: Parts): Promise<void> {
  await runnerOf(upkeep, parts.core).round(new Date(Date.now() + 62_000));
}

type End = (parts: Parts, reader: string) => Promise<unknown>;
const repeat: End = ({ services, session }, reader) => services.follow(session(reader), 'two', COUNT);

test.each<[string, string, boolean, End]>([
  ['an empty', 'it is repeated', false, repeat],
  ['a full', 'a worker settles it', true, settle],
])(
  '%s feed in the middle of a follow ends at the right place, and its listed items are right once %s',
  async (_feed, _name, isFull, end) => {
    await using parts = await openParts({ model: 'capped', cap: CAP });
    const { followed, others } = await openScene(parts, isFull);
    let stops = 0;
    for (let writes = 1; writes <= MOST_WRITES; writes += 1) {
      const reader = `reader${String(writes)}`;
      const { identity } = parts.session(reader);
      await parts.services.follow(parts.session(reader), 'one', COUNT);
      expect(await parts.feedOf(reader)).toEqual(followed);
      await using before = await openLiveList(parts, identity);
      if (!(await followAndDie(parts, reader, writes))) break;
      stops += 1;
      const shown = await idsOf(parts, reader, PAGE);
      expect(shown.filter((id) => followed.includes(id))).toEqual(followed);
      const brought = shown.filter((id) => others.includes(id));
      // Nothing yet, or all but what has its place above what is stored.
      if (isFull || brought.length > 0) {
        expect(brought).toEqual(others.slice(-brought.length));
        expect(brought.length).toBeGreaterThanOrEqual(COUNT - CAP);
      }
      await using during = await openLiveList(parts, identity, { pageSize: PAGE });
      await end(parts, reader);
      await parts.fanOut();
      const feed = await parts.feedOf(reader);
      expect([...feed].sort()).toEqual([...followed, ...others].sort());
      for (const list of [before, during]) {
        await list.caughtUp();
        expect([...list.shown.keys()].sort()).toEqual([...feed].sort());
      }
    }
    expect(stops).toBeGreaterThan(3);
    expect(stops).toBeLessThan(MOST_WRITES);
  },
);
