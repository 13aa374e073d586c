import type { Follow, ReaderProfile } from '../domain/viewer.ts';
import { SharedLoads } from '../lib/shared-loads.ts';
import type { FollowPair } from '../storage/follows.ts';
import type { HiddenPair } from '../storage/hidden-items.ts';
import type { PulledRefs } from '../storage/pulled-refs.ts';
import type { Repositories } from '../storage/repositories.ts';
import type { SessionSources } from './loaders.ts';

export type SessionRepositories = Pick<
  Repositories,
  'actions' | 'members' | 'refs' | 'pulledRefs' | 'follows' | 'feeds' | 'hiddenItems'
>;

/** Most keys of one query. */
const maxBatch = 500;
const nameOf = (id: string): string => id;

/**
 * What many sessions load from at once: keys of all of them that are asked for in the same moment become one query,
 * those of different readers too. What belongs to one reader is loaded by keys that name the reader.
 */
export function createSharedSources(repositories: SessionRepositories): SessionSources {
  const actions = new SharedLoads({
    load: (ids: readonly string[]) => repositories.actions.findByIds(ids),
    resultName: ({ id }) => id,
    ...{ nameOf, maxBatch },
  });
  const members = new SharedLoads({
    load: (ids: readonly string[]) => repositories.members.findByIds(ids),
    resultName: ({ userId }) => userId,
    ...{ nameOf, maxBatch },
  });
  const refs = new SharedLoads({
    load: (ids: readonly string[]) => repositories.refs.findByIds(ids),
    resultName: ({ refId }) => refId,
    ...{ nameOf, maxBatch },
  });
  const marks = new SharedLoads({
    load: (ids: readonly string[]) => repositories.feeds.marksOf(ids),
    resultName: ({ userId }) => userId,
    ...{ nameOf, maxBatch },
  });
  const follows = new SharedLoads({
    load: (keys: readonly FollowPair[]) => repositories.follows.findPairs(keys),
    nameOf: followName,
    resultName: followName,
    maxBatch,
  });
  const hidden = new SharedLoads({
    load: (keys: readonly HiddenPair[]) => repositories.hiddenItems.findPairs(keys),
    nameOf: hiddenName,
    resultName: hiddenName,
    maxBatch,
  });
  return {
    findActions: (ids) => actions.find(ids),
    findMembers: (ids) => members.find(ids),
    findRefs: (ids) => refs.find(ids),
    findFollows: (followerId, refIds) => follows.find(refIds.map((refId) => ({ followerId, refId }))),
    async findHidden(userId, actionIds) {
      const found = await hidden.find(actionIds.map((actionId) => ({ userId, actionId })));
      return found.map(({ actionId }) => actionId);
    },
    async loadProfile({ userId, roles }): Promise<ReaderProfile> {
      const [[member], [own], pulledFollows] = await Promise.all([
        members.find([userId]),
        marks.find([userId]),
        pulledFollowsOf(repositories.pulledRefs, (refIds) =>
          follows.find(refIds.map((refId) => ({ followerId: userId, refId }))),
        ),
      ]);
      if (own === undefined) throw new Error('A reader has no marks');
      return { ...own, isAdmin: roles.has('admin'), member: member ?? null, pulledFollows };
    },
  };
}

/** A reader's follows of the refs whose actions are pulled; nothing is asked where there are none such. */
export async function pulledFollowsOf(
  pulledRefs: PulledRefs,
  find: (refIds: readonly string[]) => Promise<readonly Follow[]>,
): Promise<readonly Follow[]> {
  const known = await pulledRefs.known();
  if (known.size === 0) return [];
  return (await find([...known])).filter(({ spans }) => spans.length > 0);
}

function followName({ followerId, refId }: FollowPair): string {
  return JSON.stringify([followerId, refId]);
}

function hiddenName({ userId, actionId }: HiddenPair): string {
  return JSON.stringify([userId, actionId]);
}
