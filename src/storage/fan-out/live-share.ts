import type { Collection } from 'mongodb';
import { LRUCache } from 'lru-cache';
import type { UserId } from '../../domain/action.ts';
import type { Lane } from '../../domain/lane.ts';
import type { ActionDocument } from '../documents/documents.ts';

/** Fan-outs that one user may have waiting in the lane LIVE. */
export const LIVE_PER_USER = 100;
/** Users whose publications a process counts. One that is forgotten starts again at none. */
const USERS = 10_000;

/**
 * Keeps one user from filling the lane LIVE for everybody. Part of the repository of fan-outs. A process counts what it
 * publishes for a user and looks at the database only when that reaches the share: usual publications cost nothing. Every
 * process grants the share once, and then only what is left of it for all of them.
 */
export function liveShare(collection: Collection<ActionDocument>) {
  /** Most that may be waiting: found by the last look, and published since. */
  const waiting = new LRUCache<UserId, number>({ max: USERS });

  return {
    /**
     * The lane for new actions of a user who is not trusted: BULK while their share of LIVE is used up. No round trip; one
     * after each `LIVE_PER_USER` publications, and for each call beyond the share. Index `claim_by_lane`.
     */
    async laneFor(actorId: UserId, count: number): Promise<Lane> {
      const expected = (waiting.get(actorId) ?? 0) + count;
      waiting.set(actorId, expected);
      if (expected <= LIVE_PER_USER) return 'LIVE';
      const found = await collection.countDocuments(
        {
          ...{ 'fanOut.state': 'PENDING', 'fanOut.lane': 'LIVE', 'fanOut.leaseUntil': { $exists: true } },
          actorId,
        },
        { limit: LIVE_PER_USER },
      );
      const isLive = found + count <= LIVE_PER_USER;
      waiting.set(actorId, isLive ? found + count : LIVE_PER_USER);
      return isLive ? 'LIVE' : 'BULK';
    },
  };
}
