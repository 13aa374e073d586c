import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareFeedPositions } from '../../../src/domain/newsfeed-item.ts';
import { INTERACTION_KINDS } from '../../../src/domain/relevancy.ts';
import type { Page, PageArgs } from '../../../src/core/shapes.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { feedFor, type ModelItem } from '../../support/model.ts';
import { openRun, session, type StepTo } from '../../support/model-run.ts';
import type { Step } from '../../support/model-steps.ts';
import { repeats } from '../../support/seed.ts';
import { take } from '../../support/model-take.ts';
import { fc } from '../../support/fast-check.ts';

const RUNS = repeats(2);

let parts: Parts;
let runs = 0;
beforeAll(async () => {
  parts = await openParts();
});
afterAll(async () => parts[Symbol.asyncDispose]());

/** Ann reads what Bob does. She knows of Cid, who is in her department, and of Dan, who is nobody to her. */
const BEGINNING: readonly Step[] = [
  {
    do: 'move',
    moves: [
      { who: 'ann', department: 'd1' },
      { who: 'cid', department: 'd1' },
    ],
  },
  { do: 'followMany', pairs: [{ by: 'ann', ref: 'bob' }] },
];

function published(conducted: number): StepTo<'publish'> {
  return {
    ...{ do: 'publish', count: 1, actor: 'bob', scope: 'FOLLOWERS', conducted, type: 'Custom' },
    ...{ mentions: [], recipients: [], refs: [], tags: [], text: 'posted' },
  };
}

const bump: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('interact'),
  action: fc.nat({ max: 11 }),
  actor: fc.constantFrom('cid', 'dan'),
  byService: fc.constant(true),
  kind: fc.constantFrom(...INTERACTION_KINDS),
  reaction: fc.constant('👍'),
  key: fc.constant(null),
  at: fc.oneof(fc.nat({ max: 30 }), fc.constant('now')),
});
const day = fc.nat({ max: 6 });
const between = fc.array(fc.oneof({ weight: 4, arbitrary: bump }, day.map(published)), { maxLength: 3 });

const scene = fc.record({
  days: fc.array(day, { minLength: 1, maxLength: 9, size: 'max' }),
  /** Of each page its size, and what happens after it. */
  pages: fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), between), {
    minLength: 1,
    maxLength: 5,
    size: 'max',
  }),
  order: fc.constantFrom('RELEVANCY', 'RECENT'),
  isUp: fc.boolean(),
});

/** The next page in one of the directions. */
function paged(isUp: boolean, size: number, from: string | null): PageArgs {
  return isUp ? { last: size, before: from } : { first: size, after: from };
}

/** In the direction in which they were read. */
function inTurn<T>(isUp: boolean, { edges }: Page<T>): readonly T[] {
  const nodes = edges.map(({ node }) => node);
  return isUp ? nodes.reverse() : nodes;
}

test(
  'a reader who pages sees nothing twice, and everything that was not bumped',
  async () => {
    await fc.assert(
      fc.asyncProperty(scene, async ({ days, pages, order, isUp }) => {
        const run = openRun(parts, runs++);
        const ann = run.reader('ann');
        for (const step of [...BEGINNING, ...days.map(published), { do: 'fanOut' } as const])
          await take(run, step);
        const before = new Map(feedFor(run.model, ann).map((item) => [item.action.id, item.relevancy]));

        const shown: { readonly id: string; readonly relevancy: number }[] = [];
        let after: string | null = null;
        for (let n = 0; ; n++) {
          const [first, steps] = pages[n] ?? [2, []];
          const page: Awaited<ReturnType<typeof parts.services.readFeed>> = await parts.services.readFeed(
            session(run, 'ann'),
            { ...paged(isUp, first, after), order },
          );
          for (const node of inTurn(isUp, page))
            shown.push({ id: node.actionId, relevancy: node.relevancy.getTime() });
          if (!page.hasMore) break;
          after = page.end;
          for (const step of steps) await take(run, step);
          if (steps.length > 0) await take(run, { do: 'fanOut' });
        }

        if (isUp) shown.reverse();
        const ids = shown.map(({ id }) => id);
        // On the way up what is bumped comes again where it is then.
        const places = isUp ? shown.map((one) => JSON.stringify(one)) : ids;
        expect(places).toEqual([...new Set(places)]);
        const now = feedFor(run.model, ann);
        const resting = now.filter(({ action, relevancy }) => before.get(action.id) === relevancy);
        if (order === 'RELEVANCY') {
          const falling = [...shown].sort((a, b) => b.relevancy - a.relevancy || (a.id < b.id ? 1 : -1));
          expect(shown).toEqual(falling);
          const expected = resting.map(({ action }) => action.id);
          expect(ids.filter((id) => expected.includes(id))).toEqual(expected);
        } else {
          // No bump changes when something was conducted: what was there is shown, all of it.
          expect(ids.filter((id) => before.has(id)).sort()).toEqual([...before.keys()].sort());
        }
      }),
      { numRuns: RUNS },
    );
  },
  10 * 60_000,
);

const withdrawal: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('hideItem', 'archiveItem', 'snoozeItem'),
  by: fc.constant('ann'),
  action: fc.nat({ max: 11 }),
});
const groupScene = fc.record({
  days: fc.array(day, { minLength: 4, maxLength: 12, size: 'max' }),
  pages: fc.array(
    fc.tuple(
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.oneof(bump, withdrawal, day.map(published)), { maxLength: 3 }),
    ),
    { minLength: 1, maxLength: 5, size: 'max' },
  ),
  isUp: fc.boolean(),
});

/** What is of one day is a group: its items with their places, by the day. */
function byDay(feed: readonly ModelItem[]): Map<number, string[]> {
  const groups = new Map<number, string[]>();
  for (const { action, relevancy } of feed) {
    const items = groups.get(action.conducted) ?? [];
    groups.set(action.conducted, [...items, `${action.id} ${String(relevancy)}`]);
  }
  return groups;
}

test(
  'a reader who pages through groups sees none twice, and all unchanged ones',
  async () => {
    await fc.assert(
      fc.asyncProperty(groupScene, async ({ days, pages, isUp }) => {
        const run = openRun(parts, runs++);
        const ann = run.reader('ann');
        for (const step of [...BEGINNING, ...days.map(published), { do: 'fanOut' } as const])
          await take(run, step);
        const before = byDay(feedFor(run.model, ann));
        const shown: { readonly day: number; readonly items: readonly string[] }[] = [];
        let after: string | null = null;
        for (let n = 0; ; n++) {
          const [first, steps] = pages[n] ?? [2, []];
          const page: Awaited<ReturnType<typeof parts.services.readFeedGroups>> =
            await parts.services.readFeedGroups(session(run, 'ann'), paged(isUp, first, after));
          // What is in a group is read when everything has changed already.
          for (const step of steps) await take(run, step);
          if (steps.length > 0) await take(run, { do: 'fanOut' });
          for (const node of inTurn(isUp, page)) {
            const items = await node.load(() => false);
            expect(items[0]).toMatchObject({ relevancy: node.relevancy, isUnread: node.isUnread });
            expect(items).toEqual([...items].sort(compareFeedPositions));
            shown.push({
              day: items[0]?.action.conducted.getTime() ?? 0,
              items: items.map(({ actionId, relevancy }) => `${actionId} ${String(relevancy.getTime())}`),
            });
          }
          if (!page.hasMore) break;
          after = page.end;
        }
        if (isUp) shown.reverse();
        const listed = shown.map((group) => group.day);
        expect(listed).toEqual([...new Set(listed)]);
        const now = byDay(feedFor(run.model, ann));
        const resting = [...before].filter(([day, items]) => now.get(day)?.join() === items.join());
        const isResting = new Set(resting.map(([day]) => day));
        expect(
          shown.flatMap((group) => (isResting.has(group.day) ? [[group.day, group.items]] : [])),
        ).toEqual(resting);
      }),
      { numRuns: RUNS },
    );
  },
  10 * 60_000,
);
