import { test } from 'vitest';
import { story } from '../../support/model-steps.ts';
import { happens } from '../../support/model-story.ts';
import type { Run } from '../../support/model-run.ts';
import { openParts } from '../../support/parts.ts';
import { repeats, SEED } from '../../support/seed.ts';
import { fc } from '../../support/fast-check.ts';
import { eachModel } from '../../support/some-models.ts';

/** One that no feed reaches, and one that most feeds outgrow: they go on from the source. */
const [WIDE, NARROW] = [1_000, 3];
const RUNS = repeats(2);

/** Nobody has anything in their feed yet, and the store may know it: one that vouches for nothing is not asked. */
async function beginFeeds({ parts, model }: Run): Promise<void> {
  for (const { userId } of model.readers) {
    await parts.feedStore.fill(userId, []);
    await parts.feedStore.fill(userId, [], { isCompleteDownTo: null });
  }
}

test.each(
  eachModel()
    // Without a cap, those of `items` are in `sweeps/feed-model.test.ts`.
    .flatMap((model) => (model === 'items' ? [NARROW] : [WIDE, NARROW]).map((cap) => ({ model, cap })))
    .map((options, n) => ({ ...options, n })),
)(
  'shows every reader the defined feed if feeds are stored by $model with a cap of $cap',
  async ({ n, ...options }) => {
    await using parts = await openParts(options);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(story, (what) => happens(parts, runs++, what, { begin: beginFeeds })),
      { numRuns: RUNS, seed: SEED + n },
    );
  },
  60 * 60_000,
);
