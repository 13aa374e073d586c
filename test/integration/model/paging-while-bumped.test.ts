import { afterAll, beforeAll, expect, test } from 'vitest';
import { INTERACTION_KINDS } from '../../../src/domain/relevancy.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { feedFor } from '../../support/model.ts';
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
});

test(
  'repeats nothing, and skips nothing that was not bumped, while somebody pages',
  async () => {
    await fc.assert(
      fc.asyncProperty(scene, async ({ days, pages, order }) => {
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
            { first, after, order },
          );
          for (const { node } of page.edges)
            shown.push({ id: node.actionId, relevancy: node.relevancy.getTime() });
          if (!page.hasNextPage) break;
          after = page.endCursor;
          for (const step of steps) await take(run, step);
          if (steps.length > 0) await take(run, { do: 'fanOut' });
        }

        const ids = shown.map(({ id }) => id);
        expect(ids).toEqual([...new Set(ids)]);
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
