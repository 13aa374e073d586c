import { test } from 'vitest';
import { endings } from '../../support/model-endings.ts';
import { story } from '../../support/model-steps.ts';
import { happens } from '../../support/model-story.ts';
import { expectRebuildsChangeNothing } from '../../support/model-rebuilds.ts';
import { openParts } from '../../support/parts.ts';
import { repeats, SEED } from '../../support/seed.ts';
import { fc } from '../../support/fast-check.ts';
import { eachModel } from '../../support/some-models.ts';

/** Less than many a feed has. */
const CAP = 6;
const MODELS = eachModel().map((model, n) => ({ model, n }));

test.each([
  ...MODELS.map((one) => ({ ...one, what: 'happened before', stories: story, runs: repeats(1) })),
  ...MODELS.map((one) => ({ ...one, what: 'came to its end', stories: endings, runs: repeats(1) })),
])(
  'a rebuild changes nothing, whatever $what, with feeds stored by $model',
  async ({ model, n, stories, runs: numRuns }) => {
    await using parts = await openParts({ model, cap: CAP });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(stories, (what) =>
        happens(parts, runs++, what, {
          end: (run) => expectRebuildsChangeNothing(run, run.reader(what.focus)),
        }),
      ),
      { numRuns, seed: SEED + n },
    );
  },
  60 * 60_000,
);
