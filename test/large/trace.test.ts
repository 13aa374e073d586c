import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runOffload, runRestore } from '../../parts/archive/src/run-offload.ts';
import { archiveOf } from '../../parts/archive/src/store/offloads.ts';
import { openParts, type Parts } from '../support/parts.ts';
import { chunksOf, readTrace, type Trace } from '../support/trace.ts';

/** A small generator of repeatable numbers, so that a failing run can be repeated. */
function* numbersBelow(limit: number, seed: number): Generator<number> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state % limit;
  }
}

interface Published {
  readonly id: string;
  readonly conducted: number;
  readonly refIds: ReadonlySet<string>;
}

let parts: Parts;
let trace: Trace;
const published: Published[] = [];

beforeAll(async () => {
  parts = await openParts();
  trace = await readTrace();
  for (const members of chunksOf(trace.members, 1_000))
    await parts.services.upsertMembers(parts.service, members);
  for (const refs of chunksOf(trace.refs, 1_000)) await parts.services.upsertRefs(parts.service, refs);
  for (const pairs of chunksOf(trace.follows, 1_000)) await parts.services.followMany(parts.service, pairs);
  for (const actions of chunksOf(trace.actions, 500)) {
    const inputs = actions.map((action) => ({ ...action, conducted: new Date(action.conducted) }));
    const outcomes = await parts.services.publishActions(parts.service, inputs);
    outcomes.forEach((outcome, index) => {
      const input = actions[index];
      if (outcome.action === null || input === undefined)
        throw new Error(outcome.error?.message ?? 'No input');
      published.push({
        id: outcome.action.id,
        conducted: Date.parse(input.conducted),
        refIds: new Set([...input.refs.map((ref) => ref.id), input.actorId]),
      });
    });
  }
  await parts.fanOut();
});
afterAll(() => parts[Symbol.asyncDispose]());

/** Some of the readers, the same in every run. */
function someReaders(count: number): ReadonlySet<string> {
  const readers = new Set<string>();
  for (const n of numbersBelow(trace.members.length, 20_261_121)) {
    readers.add(trace.members[n]?.memberId ?? '');
    if (readers.size === count) break;
  }
  return readers;
}

test('gives every reader of a real trace every action of everything they follow, in order, once', async () => {
  const followed = new Map<string, Set<string>>();
  for (const { followerId, refId } of trace.follows)
    followed.set(followerId, (followed.get(followerId) ?? new Set()).add(refId));
  const newestFirst = [...published].sort((a, b) => b.conducted - a.conducted || (a.id < b.id ? 1 : -1));
  const expectedFor = (userId: string): string[] =>
    newestFirst
      .filter((action) => [...action.refIds].some((refId) => followed.get(userId)?.has(refId) ?? false))
      .map((action) => action.id);

  let shown = 0;
  for (const userId of someReaders(50)) {
    const feed = await parts.feedOf(userId);
    expect(feed).toEqual(expectedFor(userId));
    shown += feed.length;
  }
  expect(shown).toBeGreaterThan(1_000);

  const delivered = trace.members.reduce((sum, { memberId }) => sum + expectedFor(memberId).length, 0);
  expect(await parts.database.db.collection('newsfeedItems').countDocuments()).toBe(delivered);
});

test('half of it, offloaded and restored, gives the same feeds and counts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-trace-'));
  const { services, session, feedOf, database } = parts;
  const { actions } = database.collections;
  const items = database.db.collection('newsfeedItems');
  const byTime = published.map(({ conducted }) => conducted).sort((a, b) => a - b);
  const before = new Date(byTime[Math.floor(byTime.length / 2)] ?? 0);
  const isOld = new Set(
    published.filter(({ conducted }) => conducted < before.getTime()).map(({ id }) => id),
  );
  const readers = [...someReaders(30)];
  const seen = () =>
    Promise.all(
      readers.map(async (userId) => [
        userId,
        await feedOf(userId),
        await services.countUnread(session(userId)),
      ]),
    );
  const contents = async () =>
    (await items.find().project({ _id: 0, userId: 1, actionId: 1, relevancy: 1, reasons: 1 }).toArray())
      .map((item) => JSON.stringify(item))
      .sort();
  const [feeds, stored] = [await seen(), await contents()];
  const run = {
    core: archiveOf(parts.core),
    path: join(folder, 'half.ndjson.gz'),
    now: () => new Date(),
    onProgress: () => undefined,
  };
  {
    await using worker = parts.worker({ concurrency: 8 });
    worker.start();
    expect(await runOffload(run, { before, graceMs: 0 })).toEqual({
      ...{ written: isOld.size, taken: isOld.size, earlier: 0, left: 0, failed: 0 },
    });
  }
  expect(isOld.size).toBeGreaterThan(published.length / 3);
  expect(await actions.countDocuments({ isDeleted: false })).toBe(published.length - isOld.size);
  expect((await seen()).map(([, feed]) => feed)).toEqual(
    feeds.map(([, feed]) => (feed as string[]).filter((id) => !isOld.has(id))),
  );
  expect(await runRestore(run)).toEqual({ returned: isOld.size, skipped: 0 });
  await parts.fanOut();
  expect(await seen()).toEqual(feeds);
  expect(await contents()).toEqual(stored);
  await rm(folder, { recursive: true });
});
