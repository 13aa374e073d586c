import { expect, test } from 'vitest';
import { publishSome } from '../../conformance/feed-tools.ts';
import { openParts } from '../../support/parts.ts';

const CAP = 3;
const COUNT = 12;

test.each(['capped', 'top-cache', 'redis'])(
  'a page below the floor of %s is not the last because an item was bumped above it meanwhile',
  async (model) => {
    await using parts = await openParts({ model, cap: CAP });
    const { services, feedStore } = parts;
    await feedStore.fill('ann', []);
    await feedStore.fill('ann', [], { isCompleteDownTo: null });
    const ids = (await publishSome(parts, COUNT)).reverse();
    await services.follow(parts.session('ann'), 'site', COUNT);
    await parts.fanOut();
    expect(await parts.feedOf('ann')).toEqual(ids);
    // The page has read the actions, and is about to ask which of them the store has in another place.
    const { find } = feedStore;
    let isBumped = false;
    Object.assign(feedStore, {
      async find(...args: Parameters<typeof find>) {
        if (!isBumped) {
          isBumped = true;
          const actionId = ids[CAP] ?? '';
          await services.addInteraction(parts.session('ann'), { actionId, kind: 'COMMENT' });
          await feedStore.deliver([
            {
              actionId,
              readers: [{ userId: 'ann', relevancy: new Date(), reasons: ['FOLLOW'] }],
              isFirstAttempt: false,
            },
          ]);
        }
        return find.call(feedStore, ...args);
      },
    });
    const first = CAP + 1;
    const page = await services.readFeed(parts.session('ann'), { first });
    expect(isBumped).toBe(true);
    // The bumped one is announced by an event of its own; nothing would announce those below it.
    expect(page.edges.map(({ node }) => node.actionId)).toEqual([
      ...ids.slice(0, CAP),
      ...ids.slice(CAP + 1, CAP + 2),
    ]);
    expect(page.hasMore).toBe(true);
    const rest = await services.readFeed(parts.session('ann'), { first: 100, after: page.end });
    expect(rest.edges.map(({ node }) => node.actionId)).toEqual(ids.slice(CAP + 2));
  },
);
