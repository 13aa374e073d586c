import { expect, test } from 'vitest';
import { DEFAULT_WEIGHTS } from '../../../src/domain/relevancy.ts';
import { follow, type FollowDependencies } from '../../../src/services/follow/follow.ts';
import { unfollow, type UnfollowDependencies } from '../../../src/services/follow/unfollow.ts';
import { newObjectId } from '../../../src/storage/mongo.ts';
import { createRepositories, type Repositories } from '../../../src/storage/repositories.ts';
import { Crash, crashingCollections } from '../../support/crashing.ts';
import { openParts, type Parts } from '../../support/parts.ts';

/** More than any of the calls below has. */
const MOST_WRITES = 12;

function dependenciesOf(parts: Parts, repositories: Repositories): FollowDependencies & UnfollowDependencies {
  return {
    ...repositories,
    ...parts.live,
    feedStore: parts.feedStore,
    weights: DEFAULT_WEIGHTS,
    newToken: newObjectId,
  };
}

async function expectRightCount(parts: Parts, refId = 'site'): Promise<void> {
  const [ref] = await parts.repositories.refs.findByIds([refId]);
  expect(ref?.followerCount ?? 0).toBe(await parts.repositories.follows.countFollowers(refId));
}

interface Call {
  readonly name: string;
  readonly isFollowed: boolean;
  readonly run: (parts: Parts, dependencies: FollowDependencies & UnfollowDependencies) => Promise<unknown>;
}

const CALLS: readonly Call[] = [
  {
    name: 'follow',
    isFollowed: false,
    run: (parts, dependencies) => follow(dependencies, parts.session('ann'), 'site', 2),
  },
  {
    name: 'follow of what is followed, with history',
    isFollowed: true,
    run: (parts, dependencies) => follow(dependencies, parts.session('ann'), 'site', 2),
  },
  ...[true, false].map((keepHistory) => ({
    name: `unfollow, ${keepHistory ? 'history kept' : 'without history'}`,
    isFollowed: true,
    run: (parts: Parts, dependencies: UnfollowDependencies) =>
      unfollow(dependencies, parts.session('ann'), 'site', keepHistory),
  })),
];

async function openScene(parts: Parts, { isFollowed }: Call): Promise<void> {
  for (const actorId of ['one', 'two'])
    await parts.publish({ actorId, refs: [{ id: 'site', type: 'site', label: 'Site' }] });
  await parts.fanOut();
  await parts.services.followMany(
    parts.service,
    ['bob', 'cid'].map((followerId) => ({ followerId, refId: 'site' })),
  );
  if (isFollowed) await parts.services.follow(parts.session('ann'), 'site', 0);
}

test.each(CALLS)('counts right when a $name is cut off after any write and tried again', async (call) => {
  await using parts = await openParts();
  await openScene(parts, call);
  let crashes = 0;
  for (let writes = 1; writes <= MOST_WRITES; writes++) {
    const dying = createRepositories(crashingCollections(parts.database.collections, writes));
    try {
      await call.run(parts, dependenciesOf(parts, dying));
      break;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      crashes += 1;
    }
    // A retry that dies in its turn, then one that comes to its end.
    const again = createRepositories(crashingCollections(parts.database.collections, writes));
    await call.run(parts, dependenciesOf(parts, again)).catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
    });
    await call.run(parts, dependenciesOf(parts, parts.repositories));
    await expectRightCount(parts);
    // As it was before.
    await parts.services.unfollow(parts.session('ann'), 'site', false);
    if (call.isFollowed) await parts.services.follow(parts.session('ann'), 'site', 0);
    await expectRightCount(parts);
  }
  expect(crashes).toBeGreaterThan(1);
  expect(crashes).toBeLessThan(MOST_WRITES);
});

test.each(CALLS)(
  'counts right when a $name that was believed cut off goes on after its retry has come to its end',
  async (call) => {
    await using parts = await openParts();
    await openScene(parts, call);
    const { followerCounts, follows } = parts.repositories;
    const whole = dependenciesOf(parts, parts.repositories);
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

test('counts right when others follow and leave while the followers are being counted', async () => {
  await using parts = await openParts();
  const { follows } = parts.repositories;
  await parts.services.followMany(
    parts.service,
    ['ann', 'bob', 'cid'].map((followerId) => ({ followerId, refId: 'site' })),
  );
  const cutOff = { now: new Date(), keepHistory: true, token: newObjectId() };
  await follows.close({ followerId: 'ann', refId: 'site' }, cutOff);
  const counting = dependenciesOf(parts, parts.repositories);
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
