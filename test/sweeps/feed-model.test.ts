import { test } from 'vitest';
import { story } from '../support/model-steps.ts';
import { happens } from '../support/model-story.ts';
import { openParts } from '../support/parts.ts';
import { repeats, SEED } from '../support/seed.ts';
import { fc } from '../support/fast-check.ts';

/** Stories are played side by side: most of a story is waiting for the database. */
const TELLERS = [1, 2, 3, 4];
const RUNS = repeats(2);

test.concurrent.each(TELLERS)(
  'shows every reader the defined feed, whatever happened, in every view (%i)',
  async (teller) => {
    await using parts = await openParts();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(story, (what) => happens(parts, runs++, what)),
      { numRuns: RUNS, seed: SEED + teller },
    );
  },
  60 * 60_000,
);
