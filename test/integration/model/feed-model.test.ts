import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openParts, type Parts } from '../../support/parts.ts';
import { openRun, type Run } from '../../support/model-run.ts';
import { story, type Story } from '../../support/model-steps.ts';
import { take } from '../../support/model-take.ts';
import { actualView, expectedView, faultsInPassing } from '../../support/model-views.ts';
import { settle } from '../../support/model-workers.ts';

const RUNS = Number(process.env['FANFARE_PROPERTY_RUNS'] ?? 300);

let parts: Parts;
let runs = 0;
beforeAll(async () => {
  parts = await openParts();
});
afterAll(async () => parts[Symbol.asyncDispose]());

async function happens({ steps, focus, pageSize }: Story): Promise<void> {
  const run = openRun(parts, runs++);
  try {
    for (const step of steps) {
      if (step.do === 'look') expect(await faultsInPassing(run, run.reader(step.by))).toEqual([]);
      else await take(run, step);
    }
  } finally {
    await settle(run);
  }
  await Promise.all(
    run.model.readers.map(async (reader) => {
      const look = { pageSize, isThorough: reader === run.reader(focus) };
      const actual = await actualView(run, reader, look);
      expect({ of: reader.userId, ...actual }).toEqual({
        of: reader.userId,
        ...expectedView(run, reader, look),
      });
    }),
  );
  expect(await heldInVain(run)).toBe(0);
}

/** Stored entries of actions that are in nobody's feed. */
async function heldInVain({ model }: Run): Promise<number> {
  const gone = model.actions.filter((action) => action.isHidden || action.isDeleted);
  const held = await Promise.all(gone.map((action) => parts.feedStore.holders(action.id, 10)));
  return held.flat().length;
}

test(
  'shows every reader what the definition says, whatever happened, by every way in',
  async () => {
    await fc.assert(fc.asyncProperty(story, happens), { numRuns: RUNS });
  },
  20 * 60_000,
);
