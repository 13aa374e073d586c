import fc from 'fast-check';
import { inject, test } from 'vitest';
import { connectRedis } from '../../../src/storage/redis.ts';
import { story } from '../../support/model-steps.ts';
import { happens } from '../../support/model-story.ts';
import { openParts } from '../../support/parts.ts';
test.each(['time-buckets', 'size-buckets', 'top-cache', 'pull'])('model %s', async (model) => {
  void inject; void connectRedis;
  for (const cap of [3, 1_000]) {
    await using parts = await openParts({ model, cap });
    let runs = 0;
    await fc.assert(fc.asyncProperty(story, (what) => happens(parts, runs++, what)), { numRuns: 12 });
  }
}, 3_600_000);
