import { MemoryWorkSignal } from '../../src/live/work-signal.ts';
import { follow, followMany } from '../../src/features/follow/follow.ts';
import { unfollow } from '../../src/features/follow/unfollow.ts';
import type { Repositories } from '../../src/storage/repositories.ts';
import type { Parts } from './parts.ts';
import type { Core } from '../../src/core/core.ts';

/** More than any of the calls below has. */
export const MOST_WRITES = 12;

type Dependencies = Core;

/** A call by which ann comes to follow the site, or leaves it. */
export interface FollowCall {
  readonly name: string;
  readonly isFollowed: boolean;
  readonly run: (parts: Parts, dependencies: Dependencies) => Promise<unknown>;
}

export const FOLLOW_CALLS: readonly FollowCall[] = [
  {
    name: 'follow',
    isFollowed: false,
    run: (parts, dependencies) => follow(dependencies, parts.session('ann'), 'site', 2),
  },
  {
    name: 'followMany',
    isFollowed: false,
    run: (parts, dependencies) =>
      followMany(dependencies, parts.service, [{ followerId: 'ann', refId: 'site' }]),
  },
  {
    name: 'follow of what is followed, with history',
    isFollowed: true,
    run: (parts, dependencies) => follow(dependencies, parts.session('ann'), 'site', 2),
  },
  {
    name: 'follow of what is followed, with other types and history',
    isFollowed: true,
    run: (parts, dependencies) => follow(dependencies, parts.session('ann'), 'site', 2, ['Custom']),
  },
  ...[true, false].map((keepHistory) => ({
    name: `unfollow, ${keepHistory ? 'history kept' : 'without history'}`,
    isFollowed: true,
    run: (parts: Parts, dependencies: Dependencies) =>
      unfollow(dependencies, parts.session('ann'), 'site', keepHistory),
  })),
];

/** What the calls need; give repositories that fail to cut one off. */
export function followDependencies(parts: Parts, repositories: Repositories): Dependencies {
  return {
    ...parts.core,
    ...repositories,
    workSignal: new MemoryWorkSignal(),
  };
}
