import { expect, test } from 'vitest';
import { unfollow } from '../../../src/features/follow/unfollow.ts';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { createRepositories } from '../../../src/app/repositories.ts';
import { Crash, crashingCollections } from '../../support/crashing.ts';
import {
  FOLLOW_CALLS,
  followDependencies,
  MOST_WRITES,
  type FollowCall,
} from '../../support/follow-calls.ts';
import { openParts, type Parts } from '../../support/parts.ts';

async function expectRightCount(parts: Parts, refId = 'site'): Promise<void> {
  const [ref] = await parts.repositories.refs.findByIds([refId]);
  expect(ref?.followerCount ?? 0).toBe(await parts.repositories.follows.countFollowers(refId));
}

async function openScene(parts: Parts, { isFollowed }: FollowCall): Promise<void> {
  for (const actorId of ['one', 'two'])
    await parts.publish({ actorId, refs: [{ id: 'site', type: 'site', label: 'Site' }] });
  await parts.fanOut();
  await parts.services.followMany(
    parts.service,
    ['bob', 'cid'].map((followerId) => ({ followerId, refId: 'site' })),
  );
  if (isFollowed) await parts.services.follow(parts.session('ann'), 'site', 0);
}

test.each(FOLLOW_CALLS)(
  'counts correctly when a $name is interrupted after any write and repeated',
  async (call) => {
    await using parts = await openParts();
    await openScene(parts, call);
    let crashes = 0;
    for (let writes = 1; writes <= MOST_WRITES; writes++) {
      const dying = createRepositories(crashingCollections(parts.database.collections, writes));
      try {
        await call.run(parts, followDependencies(parts, dying));
        break;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        crashes += 1;
      }
      // A retry that dies in its turn, then one that comes to its end.
      const again = createRepositories(crashingCollections(parts.database.collections, writes));
      await call.run(parts, followDependencies(parts, again)).catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
      });
      await call.run(parts, followDependencies(parts, parts.repositories));
      await expectRightCount(parts);
      // As it was before.
      await parts.services.unfollow(parts.session('ann'), 'site', false);
      if (call.isFollowed) await parts.services.follow(parts.session('ann'), 'site', 0);
      await expectRightCount(parts);
    }
    expect(crashes).toBeGreaterThan(1);
    expect(crashes).toBeLessThan(MOST_WRITES);
  },
);

test.each(FOLLOW_CALLS)(
  'counts correctly when a $name that seemed interrupted continues after its retry has ended',
  async (call) => {
    await using parts = await openParts();
    await openScene(parts, call);
    const { followerCounts, follows } = parts.repositories;
    const whole = followDependencies(parts, parts.repositories);
    let retries = 0;
    const retryFirst = async (): Promise<void> => {
      if (retries++ === 0) await call.run(parts, whole);
    };
    // Right before it counts, by whichever way it does.
    const late = {
      ...whole,
      followerCounts: {
        ...followerCounts,
        add: async (...args: Parameters<typeof followerCounts.add>) => {
          await retryFirst();
          return followerCounts.add(...args);
        },
      },
    };
    await call.run(parts, late);
    expect(retries).toBeGreaterThan(0);
    await expectRightCount(parts);
    expect(await follows.unsettled([{ followerId: 'ann', refId: 'site' }])).toEqual([]);
  },
);

test('counts correctly when others follow and leave while followers are being counted', async () => {
  await using parts = await openParts();
  const { follows } = parts.repositories;
  await parts.services.followMany(
    parts.service,
    ['ann', 'bob', 'cid'].map((followerId) => ({ followerId, refId: 'site' })),
  );
  const cutOff = { now: new Date(), keepHistory: true, token: newObjectId() };
  await follows.close({ followerId: 'ann', refId: 'site' }, cutOff);
  const counting = followDependencies(parts, parts.repositories);
  await unfollow(
    {
      ...counting,
      follows: {
        ...follows,
        async countFollowers(refId) {
          await parts.services.follow(parts.session('before'), 'site', 0);
          const count = await follows.countFollowers(refId);
          await parts.services.follow(parts.session('after'), 'site', 0);
          await parts.services.unfollow(parts.session('bob'), 'site', true);
          return count;
        },
      },
    },
    parts.session('ann'),
    'site',
    true,
  );
  await expectRightCount(parts);
  expect(await follows.countFollowers('site')).toBe(3);
});
