import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { story } from '../../support/model-steps.ts';
import { happens } from '../../support/model-story.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const RUNS = Number(process.env['FANFARE_PROPERTY_RUNS'] ?? 300);

let parts: Parts;
let runs = 0;
beforeAll(async () => {
  parts = await openParts();
});
afterAll(async () => parts[Symbol.asyncDispose]());

test(
  'shows every reader what the definition says, whatever happened, by every way in',
  async () => {
    await fc.assert(
      fc.asyncProperty(story, (what) => happens(parts, runs++, what)),
      { numRuns: RUNS },
    );
  },
  20 * 60_000,
);
