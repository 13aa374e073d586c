import { expect, test } from 'vitest';
import { MemoryWorkSignal } from '../../../src/live/work-signal.ts';
import { settleFollows } from '../../../src/features/follow/settle-follows.ts';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { openParts } from '../../support/parts.ts';

const TOKEN = '0123456789abcdef01234567';

test('adds actions that are hidden and shown again while a follow is being completed', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({});
  await parts.fanOut();
  const { repositories, feedStore, services } = parts;
  const admin = parts.session('admin', 'admin');
  const pair = { followerId: 'bob', refId: 'actor' };
  const tokens = { opened: TOKEN, extended: newObjectId(), changed: newObjectId() };
  await repositories.follows.open([{ ...pair, since: action.recorded }], tokens);
  const opened = await repositories.follows.unsettled([pair]);
  await settleFollows(
    {
      ...repositories,
      ...parts.live,
      workSignal: new MemoryWorkSignal(),
      // Between the look at the action and what is done about it.
      fanOuts: {
        ...repositories.fanOuts,
        async requestPass(...request) {
          await services.unhideAction(admin, action.id);
          await parts.fanOut();
          await repositories.fanOuts.requestPass(...request);
        },
      },
      feedStore: {
        ...feedStore,
        async fill(userId, entries) {
          await services.hideAction(admin, action.id, null);
          await parts.fanOut();
          return feedStore.fill(userId, entries);
        },
      },
    },
    opened,
    { tokens, epochs: new Map([['actor', null]]) },
  );
  await parts.fanOut();
  expect(await parts.feedOf('bob')).toEqual([action.id]);
});
