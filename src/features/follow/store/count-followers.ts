import type { RefId } from '../../../domain/action.ts';
import type { Ref } from '../../../domain/member.ts';
import { newObjectId } from '../../../storage/database/mongo.ts';
import type { Repositories } from '../../../storage/repositories.ts';
import type { CountEpochs } from './follower-counts.ts';

/** The outcome of written follows. */
export interface FollowerChanges {
  /** To be added to the counts of refs, for follows that nobody else counts. */
  readonly added: ReadonlyMap<RefId, number>;
  /** Refs of follows that another call left behind: nobody knows whether they were counted. */
  readonly uncertain: Iterable<RefId>;
  /** Read before the follows were written. */
  readonly epochs: CountEpochs;
}

/**
 * Brings follower counts up to date. Returns the ref with its count if it was one that was added to. One round trip, two with
 * calls for other refs at the same time; three more for each ref that has to be counted from scratch.
 */
export async function countFollowers(
  { follows, followerCounts }: Repositories,
  { added, uncertain, epochs }: FollowerChanges,
): Promise<Ref | null> {
  const toCount = new Set(uncertain);
  const certain = new Map([...added].filter(([refId, count]) => count !== 0 && !toCount.has(refId)));
  const { refused, ref } = await followerCounts.add(certain, epochs);
  for (const refId of refused) toCount.add(refId);
  for (const refId of toCount) {
    const epoch = newObjectId();
    await followerCounts.begin(refId, epoch);
    await followerCounts.end(refId, epoch, await follows.countFollowers(refId));
  }
  return ref;
}
