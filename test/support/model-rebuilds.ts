import { expect } from 'vitest';
import type { ModelReader } from './model.ts';
import type { Run } from './model-run.ts';
import { actualView, type View } from './model-views.ts';

const PAGE_SIZE = 3;

/** Expects every reader to be shown the same before and after their feeds are rebuilt, and one of them by every way in. */
export async function expectRebuildsChangeNothing(run: Run, focus: ModelReader): Promise<View> {
  const { parts, model } = run;
  const shown = (closely: ModelReader | null): Promise<View[]> =>
    Promise.all(
      model.readers.map((reader) =>
        actualView(run, reader, { pageSize: PAGE_SIZE, isThorough: reader === closely }),
      ),
    );
  // A model may rebuild a feed after its first read.
  await shown(null);
  await parts.fanOut();
  const before = await shown(focus);
  for (const { userId } of model.readers) await parts.services.rebuildFeed(parts.admin, userId);
  await parts.fanOut();
  expect(await shown(focus)).toEqual(before);
  return before[model.readers.indexOf(focus)] ?? {};
}
