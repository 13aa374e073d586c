import { ObjectId, type Document } from 'mongodb';
import type { UserId } from '../../../domain/action.ts';
import { retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import { NO_EVENTS, type EventEntries } from '../../../storage/stages/event-entries.ts';
import type { FollowPair } from './follow-reads.ts';
import type { UnsettledFollow } from './follows.ts';
import { NO_STAMPS, type ReaderStamps } from '../../../feed/store/reader-stamps.ts';
import type { Collections } from '../../../storage/database/mongo.ts';

/** Tokens with which a call that ends many follows marks them until they are settled. */
export interface ClosingTokens {
  /** The pair was followed: the count must be decremented. */
  readonly closed: string;
  /** The pair was no longer followed, and its history is removed. */
  readonly dropped: string;
}

function closingStage(
  tokens: ClosingTokens,
  { now, keepHistory }: { readonly now: Date; readonly keepHistory: boolean },
  events: EventEntries,
): Document {
  const isUnmarked = { $not: [{ $gt: ['$settling', null] }] };
  const ended = {
    $map: {
      input: '$spans',
      as: 'span',
      in: { $mergeObjects: ['$$span', { until: { $ifNull: ['$$span.until', now] } }] },
    },
  };
  const otherwise = keepHistory ? '$$REMOVE' : new ObjectId(tokens.dropped);
  return {
    // Only an open follow was counted: an earlier mark on it means that it never was.
    settling: {
      $cond: [
        { $and: ['$active', isUnmarked] },
        new ObjectId(tokens.closed),
        { $ifNull: ['$settling', otherwise] },
      ],
    },
    spans: keepHistory ? ended : [],
    active: false,
    ...events.staged('follow.closed', now, { $eq: ['$active', true] }),
  };
}

export function followEndsRepository(
  { feeds, follows }: Collections,
  events: EventEntries = NO_EVENTS,
  stamps: ReaderStamps = NO_STAMPS,
) {
  return {
    /** Makes reads check entries delivered to these readers against their follows. Two writes. Unique key: `_id`. */
    async markChecksFollows(userIds: readonly UserId[]): Promise<void> {
      const operations = userIds.map((userId) => ({
        updateOne: { filter: { _id: userId }, update: { $set: { checksFollows: true } }, upsert: true },
      }));
      await retryOnDuplicateKey(() => feeds.bulkWrite(operations, { ordered: false }));
      await stamps.renew(userIds);
    },

    /**
     * Ends the open span of each pair, or deletes all its spans, in one write. Changed follows are marked, with the token
     * that says how, until they are settled. Pairs must differ. Unique key: followerId, refId.
     */
    async close(
      pairs: readonly FollowPair[],
      change: { readonly now: Date; readonly keepHistory: boolean; readonly tokens: ClosingTokens },
    ): Promise<void> {
      const update = [{ $set: closingStage(change.tokens, change, events) }];
      await follows.bulkWrite(
        pairs.map(({ followerId, refId }) => ({
          updateOne: { filter: { refId, followerId }, update },
        })),
        { ordered: false },
      );
    },

    /** Removes the marks where they are still the given ones, and deletes follows without spans. Two writes. */
    async forget(ended: readonly UnsettledFollow[]): Promise<void> {
      const keys = ended.map(({ refId, followerId, token }) => ({
        ...{ refId, followerId },
        settling: new ObjectId(token),
      }));
      await follows.bulkWrite(
        keys.map((key) => ({
          deleteOne: {
            filter: { ...key, active: false, spans: { $size: 0 }, unsentAt: { $exists: false } },
          },
        })),
        { ordered: false },
      );
      await follows.bulkWrite(
        keys.map((filter) => ({ updateOne: { filter, update: { $unset: { settling: 1 as const } } } })),
        { ordered: false },
      );
    },
  };
}
