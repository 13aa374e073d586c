import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { openRun, type Run } from './model-run.ts';
import type { Step, Story } from './model-steps.ts';
import { take } from './model-take.ts';
import { actualView, expectedView, faultsInPassing } from './model-views.ts';
import { settle } from './model-workers.ts';
import type { Parts } from './parts.ts';

export interface StoryOptions {
  /** Before anything happens. */
  readonly begin?: (run: Run) => Promise<void>;
  /** After each step: whether by the definition anything is otherwise than before. */
  readonly taken?: (step: Step, hasChanged: boolean) => void;
  /** When everything has come to its end, before it is looked at. */
  readonly end?: (run: Run) => Promise<unknown>;
}

/** Lets a story happen to the server and to the definition, and expects every reader to be shown the same by both. */
export async function happens(
  parts: Parts,
  number: number,
  { steps, focus, pageSize }: Story,
  { begin, taken, end }: StoryOptions = {},
): Promise<void> {
  const run = openRun(parts, number);
  await begin?.(run);
  try {
    for (const step of steps) {
      const before = taken === undefined ? null : structuredClone(run.model);
      if (step.do === 'look') expect(await faultsInPassing(run, run.reader(step.by))).toEqual([]);
      else await take(run, step);
      taken?.(step, !isDeepStrictEqual(structuredClone(run.model), before));
    }
  } finally {
    await settle(run);
  }
  await end?.(run);
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
  expect(await orphanedEntries(run)).toBe(0);
}

/** Stored entries of actions that are in nobody's feed. */
async function orphanedEntries({ parts, model }: Run): Promise<number> {
  const gone = model.actions.filter((action) => action.isHidden || action.isDeleted);
  const held = await Promise.all(gone.map((action) => parts.feedStore.holders(action.id, { limit: 10 })));
  return held.flat().length;
}
