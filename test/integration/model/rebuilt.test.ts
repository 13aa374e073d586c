import { test } from 'vitest';
import { FEED_MODEL_NAMES } from '../../../src/feeds/registry.ts';
import { story } from '../../support/model-steps.ts';
import { happens } from '../../support/model-story.ts';
import { expectRebuildsChangeNothing } from '../../support/model-rebuilds.ts';
import { openParts } from '../../support/parts.ts';
import { repeats, SEED } from '../../support/seed.ts';
import { fc } from '../../support/fast-check.ts';

const RUNS = repeats(2);
/** Less than many a feed has. */
const CAP = 6;

test.each(FEED_MODEL_NAMES.map((model, n) => ({ model, n })))(
  'a rebuild changes nothing, whatever happened before, where feeds are stored by $model',
  async ({ model, n }) => {
    await using parts = await openParts({ model, cap: CAP });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(story, (what) =>
        happens(parts, runs++, what, {
          end: (run) => expectRebuildsChangeNothing(run, run.reader(what.focus)),
        }),
      ),
      { numRuns: RUNS, seed: SEED + n },
    );
  },
  60 * 60_000,
);
