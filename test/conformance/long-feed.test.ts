import { expect, test } from 'vitest';
import { FEED_MODEL_NAMES } from '../../src/feeds/registry.ts';
import { openParts } from '../support/parts.ts';
import { idsOf, seedActions } from './feed-tools.ts';

test.each(FEED_MODEL_NAMES)(
  'by %s a feed reaches down to the first of ten thousand actions',
  async (model) => {
    await using parts = await openParts({ model, cap: 1_000 });
    await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'site' }]);
    const ids = await seedActions(parts, 10_000);
    await parts.services.rebuildFeed(parts.admin, 'ann');
    await parts.fanOut();
    expect(await idsOf(parts, 'ann')).toEqual(ids.toReversed());
  },
);
