import { expect, test } from 'vitest';
import { openParts } from '../../support/parts.ts';
import { chunksOf, readTrace } from '../../support/trace.ts';

/** A small generator of repeatable numbers, so that a failing run can be repeated. */
function* numbersBelow(limit: number, seed: number): Generator<number> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state % limit;
  }
}

test('gives every reader of a real trace every action of everything they follow, in order, once', async () => {
  await using parts = await openParts();
  const trace = await readTrace();
  for (const members of chunksOf(trace.members, 1_000))
    await parts.services.upsertMembers(parts.service, members);
  for (const refs of chunksOf(trace.refs, 1_000)) await parts.services.upsertRefs(parts.service, refs);
  for (const pairs of chunksOf(trace.follows, 1_000)) await parts.services.followMany(parts.service, pairs);
  const published: { id: string; conducted: number; refIds: Set<string> }[] = [];
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

  const followed = new Map<string, Set<string>>();
  for (const { followerId, refId } of trace.follows)
    followed.set(followerId, (followed.get(followerId) ?? new Set()).add(refId));
  const newestFirst = [...published].sort((a, b) => b.conducted - a.conducted || (a.id < b.id ? 1 : -1));
  const expectedFor = (userId: string): string[] =>
    newestFirst
      .filter((action) => [...action.refIds].some((refId) => followed.get(userId)?.has(refId) ?? false))
      .map((action) => action.id);

  const readers = new Set<string>();
  for (const n of numbersBelow(trace.members.length, 20_261_121)) {
    readers.add(trace.members[n]?.memberId ?? '');
    if (readers.size === 50) break;
  }
  let shown = 0;
  for (const userId of readers) {
    const feed = await parts.feedOf(userId);
    expect(feed).toEqual(expectedFor(userId));
    shown += feed.length;
  }
  expect(shown).toBeGreaterThan(1_000);

  const delivered = trace.members.reduce((sum, { memberId }) => sum + expectedFor(memberId).length, 0);
  expect(await parts.database.db.collection('newsfeedItems').countDocuments()).toBe(delivered);
});
