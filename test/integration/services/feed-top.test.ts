import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { generationAt, RESCORE_EVERY_MS } from '../../../src/domain/ranking.ts';
import { rescoring } from '../../../src/features/ranking/jobs/rescoring.ts';
import type { FeedFilter, FeedPage } from '../../../src/core/shapes.ts';
import type { FeedEntry } from '../../../src/domain/newsfeed-item.ts';
import { encodeRanked } from '../../../src/domain/cursor.ts';
import { listInOrder } from '../../../src/feed/page/orders.ts';
import { latestGeneration } from '../../../src/features/ranking/ranked-page.ts';
import { TOP } from '../../../src/features/ranking/top-order.ts';
import { runnerOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { fc } from '../../support/fast-check.ts';
import { repeats } from '../../support/seed.ts';

const HOUR = 3_600_000;
const READER = 'ann';

interface Sample {
  readonly actorId: string;
  readonly ageHours: number;
  readonly likes: number;
  readonly comments: number;
  readonly reshares: number;
}

async function top(parts: Parts, first: number, filter?: FeedFilter): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  for (;;) {
    const page: FeedPage = await parts.services.readFeed(parts.session(READER), {
      first,
      after,
      order: 'TOP',
      filter,
    });
    ids.push(...page.edges.map((edge) => edge.node.actionId));
    if (!page.hasMore) return ids;
    expect(page.edges).toHaveLength(first);
    after = page.end;
  }
}

async function publishAll(parts: Parts, samples: readonly Sample[], now: Date): Promise<string[]> {
  const outcomes = await parts.services.publishActions(
    parts.service,
    samples.map(({ actorId, ageHours }) => ({
      actorId,
      mentions: [READER],
      conducted: new Date(now.getTime() - ageHours * HOUR),
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'x' } },
    })),
  );
  const ids = outcomes.map((outcome) => outcome.action?.id ?? '');
  for (const [n, { likes, comments, reshares }] of samples.entries()) {
    const kinds = [
      ...Array<string>(likes).fill('LIKE'),
      ...Array<string>(comments).fill('COMMENT'),
      ...Array<string>(reshares).fill('RESHARE'),
    ];
    for (const [k, kind] of kinds.entries())
      await parts.services.addInteraction(parts.session(`fan${String(k)}`, 'admin'), {
        actionId: ids[n] ?? '',
        kind,
      });
  }
  return ids;
}

/** The formula once more, as plainly as it can be written down. */
function expected(ids: readonly string[], samples: readonly Sample[], now: Date, liked: string[]): string[] {
  const generation = Math.floor(now.getTime() / RESCORE_EVERY_MS) * RESCORE_EVERY_MS;
  const all = samples.map((sample, n) => {
    const conducted = now.getTime() - sample.ageHours * HOUR;
    const age = Math.max(0, generation - conducted) / HOUR;
    const base =
      1 + 0.5 * Math.log(1 + sample.likes) + Math.log(1 + sample.comments) + Math.log(1 + sample.reshares);
    const factor = 1 + 0.5 * Math.log(1 + liked.filter((actor) => actor === sample.actorId).length);
    return { id: ids[n] ?? '', conducted, score: (base / (1 + age ** 1.8)) * factor };
  });
  const isRanked = (entry: { conducted: number }): boolean => entry.conducted >= generation - 24 * HOUR;
  return [
    ...all.filter(isRanked).sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1)),
    ...all
      .filter((entry) => !isRanked(entry))
      .sort((a, b) => b.conducted - a.conducted || (a.id < b.id ? 1 : -1)),
  ].map((entry) => entry.id);
}

const sampleArbitrary = fc.record({
  actorId: fc.constantFrom('ben', 'cat', 'dan'),
  // Some of them on the same moment, and some beyond the day.
  ageHours: fc.constantFrom(0, 0.5, 1, 1, 3, 3, 8, 20, 23.5, 25, 25, 60),
  likes: fc.constantFrom(0, 0, 0, 1, 3),
  comments: fc.constantFrom(0, 0, 1, 2),
  reshares: fc.constantFrom(0, 0, 1),
});

/** A moment at which no generation begins while the test runs. */
function steadyNow(): Date {
  return new Date(generationAt(new Date()).getTime() + 1);
}

test('ranks the last day by age, engagement and relationship, and the rest newest first', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sampleArbitrary, { minLength: 1, maxLength: 18 }),
      fc.array(fc.nat(17), { maxLength: 4 }),
      fc.integer({ min: 1, max: 7 }),
      async (samples, liked, first) => {
        await using parts = await openParts();
        const now = steadyNow();
        const ids = await publishAll(parts, samples, now);
        const likes = liked.filter((n) => n < ids.length);
        await parts.fanOut();
        await likeBefore(
          parts,
          likes.map((n) => ids[n] ?? ''),
          now,
        );
        await parts.rescore(now);
        const ranking = expected(
          ids,
          samples,
          now,
          likes.map((n) => samples[n]?.actorId ?? ''),
        );
        expect(await top(parts, first)).toEqual(ranking);
        expect(await top(parts, 100)).toEqual(ranking);
      },
    ),
    { numRuns: repeats(3) },
  );
});

test('of a day with more than a thousand the newest thousand are ranked, and the rest follows newest first', async () => {
  await using parts = await openParts();
  const now = steadyNow();
  const COUNT = 1_060;
  const samples = Array.from({ length: COUNT }, (_, n) => ({
    // Of the closest member are only those that are beyond.
    ...{ actorId: n < 1_030 ? 'ben' : 'cat', ageHours: n / 60, likes: 0, comments: 0, reshares: 0 },
  }));
  const ids: string[] = [];
  for (let from = 0; from < COUNT; from += 100)
    ids.push(...(await publishAll(parts, samples.slice(from, from + 100), now)));
  await parts.fanOut();
  await likeBefore(parts, ids.slice(-30), now);
  await parts.rescore(now);
  expect(await top(parts, 100)).toEqual(ids);
});

test('a cursor that claims an earlier time than a first page ranks does not have the whole feed read', async () => {
  await using parts = await openParts();
  const generation = await latestGeneration(parts.core);
  const position = {
    generation,
    since: new Date(0),
    zone: 'ranked',
    value: 1,
    actionId: '0'.repeat(24),
  } as const;
  const after = encodeRanked(listInOrder('TOP', READER), position);
  let scans = 0;
  // A list without an end.
  const scan = (): Promise<FeedEntry[]> => {
    scans += 1;
    const entry = (n: number): FeedEntry => ({
      actionId: String(scans * 1_000 + n).padStart(24, '0'),
      relevancy: new Date(Date.UTC(2020, 0, 1) - scans),
      reasons: ['FOLLOW'],
    });
    return Promise.resolve(Array.from({ length: 1_000 }, (_, n) => entry(n)));
  };
  const page = TOP.read(parts.core, {
    ...{ userId: READER, view: null, list: READER, args: { first: 1, after }, extent: undefined },
    isUnfiltered: () => Promise.resolve(true),
    lookUp: () => parts.session(READER).profile(),
    ...{ scan, select: () => Promise.resolve([]), first: (_page, _what, _limit, make) => make() },
  });
  await expect(page).rejects.toMatchObject({ code: 'BAD_CURSOR' });
  expect(scans).toBeLessThan(10);
});

/** Likes of the reader's that are older than the generation. */
async function likeBefore(parts: Parts, actionIds: readonly string[], now: Date): Promise<void> {
  if (actionIds.length === 0) return;
  const seconds = Math.floor(generationAt(now).getTime() / 1_000);
  await parts.database.collections.interactions.insertMany(
    actionIds.map((actionId, n) => ({
      _id: ObjectId.createFromTime(seconds - 1 - n),
      actionId: new ObjectId(actionId),
      key: `earlier ${String(n)}`,
      actorId: READER,
      departmentIds: [],
      kind: 'LIKE' as const,
      at: new Date((seconds - 1 - n) * 1_000),
    })),
  );
}

const SAMPLES: readonly Sample[] = Array.from({ length: 24 }, (_, n) => ({
  actorId: ['ben', 'cat', 'dan'][n % 3] ?? '',
  ageHours: (n * 7) % 30,
  likes: n % 4,
  comments: n % 3,
  reshares: n % 2,
}));

test('moves nothing while a reader pages, whatever is liked, published, bumped and scored again', async () => {
  await using parts = await openParts();
  const now = steadyNow();
  const ids = await publishAll(parts, SAMPLES, now);
  await parts.fanOut();
  await parts.rescore(now);
  const before = await top(parts, 100);
  expect([...before].sort()).toEqual([...ids].sort());
  const seen: string[] = [];
  let after: string | null = null;
  for (let page = 0; ; page++) {
    const {
      edges,
      hasMore: hasNextPage,
      end: endCursor,
    }: FeedPage = await parts.services.readFeed(parts.session(READER), {
      first: 4,
      after,
      order: 'TOP',
    });
    seen.push(...edges.map((edge) => edge.node.actionId));
    after = endCursor;
    if (!hasNextPage) break;
    for (const kind of ['LIKE', 'COMMENT'])
      await parts.services.addInteraction(parts.session(READER), { actionId: ids[page * 3] ?? '', kind });
    await parts.publish({ mentions: [READER], actorId: 'ben' });
    await parts.fanOut();
    if (page < 2) await parts.rescore(new Date(now.getTime() + (page + 1) * RESCORE_EVERY_MS));
  }
  expect(seen.filter((id) => ids.includes(id))).toEqual(before);
  expect(new Set(seen).size).toBe(seen.length);
  expect(await top(parts, 100)).not.toEqual(before);
});

test('shows actions published since the last scoring without waiting for the next', async () => {
  await using parts = await openParts();
  const now = steadyNow();
  await publishAll(parts, SAMPLES, now);
  await parts.fanOut();
  await parts.rescore(now);
  const { action } = await parts.publish({ mentions: [READER] });
  await parts.fanOut();
  expect(await top(parts, 100)).toContain(action.id);
});

test('serves the order before the first scoring', async () => {
  await using parts = await openParts();
  const ids = await publishAll(parts, SAMPLES, new Date());
  await parts.fanOut();
  expect((await top(parts, 5)).sort()).toEqual([...ids].sort());
});

test('keeps hidden actions, muted actors and filtered items out of the ranking', async () => {
  await using parts = await openParts();
  const now = steadyNow();
  const ids = await publishAll(parts, SAMPLES, now);
  await parts.fanOut();
  await parts.rescore(now);
  const ranking = await top(parts, 100);
  await parts.services.hideAction(parts.session('admin', 'admin'), ids[0] ?? '', null);
  await parts.services.addMute(parts.session(READER), { memberId: 'cat' });
  const allowed = ids.filter((id, n) => n > 0 && SAMPLES[n]?.actorId === 'ben' && id !== ids[0]);
  expect(await top(parts, 3, { actorIds: ['ben', 'cat'] })).toEqual(
    ranking.filter((id) => allowed.includes(id)),
  );
});

test('rejects a cursor whose scores are no longer stored', async () => {
  await using parts = await openParts();
  const now = steadyNow();
  await publishAll(parts, SAMPLES, now);
  await parts.fanOut();
  await parts.rescore(now);
  const { end: endCursor } = await parts.services.readFeed(parts.session(READER), { first: 2, order: 'TOP' });
  const again = (): Promise<FeedPage> =>
    parts.services.readFeed(parts.session(READER), { first: 2, after: endCursor, order: 'TOP' });
  await parts.rescore(new Date(now.getTime() + RESCORE_EVERY_MS));
  expect((await again()).edges).toHaveLength(2);
  await parts.rescore(new Date(now.getTime() + 6 * RESCORE_EVERY_MS));
  await expect(again()).rejects.toMatchObject({ code: 'BAD_CURSOR' });
});

test('an interrupted scoring is completed by the next worker, and its results stay unchanged', async () => {
  await using parts = await openParts();
  const now = steadyNow();
  const generation = generationAt(now);
  const ids = await publishAll(parts, SAMPLES, now);
  await parts.fanOut();
  const { scores } = parts.repositories;
  const broken = runnerOf(
    rescoring,
    {
      ...parts.repositories,
      scores: {
        ...scores,
        put: async (entries, of) => {
          await scores.put(entries.slice(0, 5), of);
          throw new Error('Out of breath');
        },
      },
    },
    { fanOut: { leaseMs: 1 } },
  );
  await expect(broken.round(now)).rejects.toThrow('Out of breath');
  expect(await scores.current()).toBeNull();
  const first = await scores.find(ids, generation);
  expect(first.size).toBeGreaterThan(0);
  for (const actionId of first.keys())
    await parts.services.addInteraction(parts.session(READER), { actionId, kind: 'COMMENT' });
  await parts.rescore(new Date(now.getTime() + 10));
  expect(await scores.current()).toEqual(generation);
  const all = await scores.find(ids, generation);
  expect(all.size).toBe(SAMPLES.filter((sample) => sample.ageHours <= 24).length);
  for (const [actionId, score] of first) expect(all.get(actionId)).toEqual(score);
});

test('deletes scores that are in no generation any more', async () => {
  await using parts = await openParts();
  await publishAll(parts, SAMPLES, steadyNow());
  await parts.rescore();
  expect(await parts.database.collections.scores.countDocuments()).toBeGreaterThan(0);
  await parts.rescore(new Date(Date.now() + 27 * HOUR));
  expect(await parts.database.collections.scores.countDocuments()).toBe(0);
});
