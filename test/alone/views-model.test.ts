import { beforeAll, expect, test } from 'vitest';
import { FEED_MODEL_NAMES } from '../../src/app/feed-models.ts';
import '../../src/app/features.ts';
import { checkHostConfig, defineConfig } from '../../src/descriptors/host-config.ts';
import { useDescriptors } from '../../src/descriptors/registry.ts';
import { checkViews } from '../../src/feed/page/views.ts';
import { fc } from '../support/fast-check.ts';
import { markViews, offerOf, VIEWS, viewsOf } from '../support/model-lists.ts';
import { story } from '../support/model-steps.ts';
import { happens } from '../support/model-story.ts';
import type { Run } from '../support/model-run.ts';
import { openParts } from '../support/parts.ts';
import { repeats, SEED, someOf } from '../support/seed.ts';

beforeAll(() => {
  useDescriptors(checkHostConfig(defineConfig({ views: VIEWS }), 'test/alone/views-model.test.ts'));
  checkViews();
});

/** Of stories without an end of their own, each takes some seconds. */
const RUNS = repeats(3);

test.each(someOf(FEED_MODEL_NAMES, 3).map((model, n) => ({ model, n })))(
  'views of every kind show what the definition says, whatever has happened, with feeds stored by $model',
  async ({ model, n }) => {
    await fc.assert(
      fc.asyncProperty(story, async (what) => {
        let offer: ReadonlyMap<string, number> = new Map();
        await using parts = await openParts({ model, offers: { of: () => Promise.resolve(offer) } });
        const end = async (run: Run): Promise<void> => {
          offer = offerOf(run.model.actions);
          const generation = new Date();
          await parts.rescore(generation);
          const { pageSize } = what;
          for (const reader of run.model.readers) {
            const marks = await markViews(run, reader);
            const [expected, actual] = await viewsOf(run, reader, { pageSize, marks, generation });
            expect({ of: reader.userId, ...actual }).toEqual({ of: reader.userId, ...expected });
          }
        };
        await happens(parts, 0, what, { end });
      }),
      { numRuns: RUNS, seed: SEED + n },
    );
  },
  60 * 60_000,
);
