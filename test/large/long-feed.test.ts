import { expect, test } from 'vitest';
import { FEED_MODEL_NAMES } from '../../src/app/feed-models.ts';
import { openParts } from '../support/parts.ts';
import { IS_DEEP } from '../support/seed.ts';
import { idsOf, seedActions } from '../conformance/feed-tools.ts';

/** More than a store keeps. */
const COUNT = IS_DEEP ? 10_000 : 2_000;

test.each(FEED_MODEL_NAMES)(
  'by %s a feed reaches back to the first of thousands of actions',
  async (model) => {
    await using parts = await openParts({ model, cap: 1_000 });
    await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'site' }]);
    const ids = await seedActions(parts, COUNT);
    await parts.services.rebuildFeed(parts.admin, 'ann');
    await parts.fanOut();
    expect(await idsOf(parts, 'ann')).toEqual(ids.toReversed());
  },
);
