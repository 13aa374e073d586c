import { expect, test } from 'vitest';
import { FEED_MODEL_NAMES } from '../../../src/feeds/registry.ts';
import type { Run } from '../../support/model-run.ts';
import { story } from '../../support/model-steps.ts';
import { happens } from '../../support/model-story.ts';
import { actualView } from '../../support/model-views.ts';
import { openParts } from '../../support/parts.ts';
import { repeats, SEED } from '../../support/seed.ts';
import { fc } from '../../support/fast-check.ts';

const RUNS = repeats(2);
/** Less than many a feed has. */
const CAP = 6;

/** What every reader is shown, before and after their feeds are rebuilt. */
async function rebuilt(run: Run): Promise<void> {
  const { parts, model } = run;
  const shown = (): Promise<unknown[]> =>
    Promise.all(model.readers.map((reader) => actualView(run, reader, { pageSize: 3, isThorough: false })));
  // A model may rebuild a feed after its first read.
  await shown();
  await parts.fanOut();
  const before = await shown();
  for (const { userId } of model.readers) await parts.services.rebuildFeed(parts.admin, userId);
  await parts.fanOut();
  expect(await shown()).toEqual(before);
}

test.each(FEED_MODEL_NAMES.map((model, n) => ({ model, n })))(
  'a rebuild changes nothing, whatever happened before, where feeds are stored by $model',
  async ({ model, n }) => {
    await using parts = await openParts({ model, cap: CAP });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(story, (what) => happens(parts, runs++, what, { end: rebuilt })),
      { numRuns: RUNS, seed: SEED + n },
    );
  },
  60 * 60_000,
);
