import { ObjectId, type Collection, type Document } from 'mongodb';
import type { ActionId } from '../domain/action.ts';
import type { FollowSpan } from '../domain/follow-span.ts';
import type { FollowDocument } from './reader-documents.ts';
import { clock } from '../lib/clock.ts';
import { retryOnDuplicateKey } from './errors.ts';
import { followReads, toSpans, type FollowPair } from './follow-reads.ts';
import { NO_EVENTS, type EventEntries } from './event-entries.ts';

/** A follow that is open but whose past actions and count are not settled yet. */
export interface UnsettledFollow extends FollowPair {
  readonly spans: readonly FollowSpan[];
  /** Which call opened it, and whether it was open before. */
  readonly token: string;
}

/** A follow as it was before it was ended. */
export interface EndedFollow {
  readonly spans: readonly FollowSpan[];
  /** Of the call whose mark the follow bears. */
  readonly token: string;
  /** Whether that is this call. */
  readonly isOurs: boolean;
}

export interface NewSpan extends FollowPair {
  readonly since: Date;
  readonly sinceAction?: ActionId;
}

/** How a call that opens follows marks them until they are settled. */
export interface OpeningTokens {
  /** The pair was not followed: the follower is to be counted. */
  readonly opened: string;
  /** The pair was followed already, and its span begins earlier now. */
  readonly extended: string;
}

function openingStage(
  span: { readonly since: Date; readonly sinceAction?: ObjectId },
  tokens: OpeningTokens,
  events: EventEntries,
): Document {
  const isOpen = { $eq: ['$active', true] };
  const spans = { $ifNull: ['$spans', []] };
  const beginsLater = {
    $and: [
      { $not: [{ $gt: ['$$span.until', null] }] },
      {
        $or: [
          { $gt: ['$$span.since', span.since] },
          {
            $and: [
              { $eq: ['$$span.since', span.since] },
              { $gt: ['$$span.sinceAction', span.sinceAction ?? null] },
              span.sinceAction !== undefined,
            ],
          },
        ],
      },
    ],
  };
  const extended = {
    $map: {
      input: spans,
      as: 'span',
      in: { $cond: [beginsLater, { $mergeObjects: ['$$span', span] }, '$$span'] },
    },
  };
  const isExtended = {
    $gt: [{ $size: { $filter: { input: spans, as: 'span', cond: beginsLater } } }, 0],
  };
  const mark = {
    $cond: [
      isOpen,
      { $cond: [isExtended, new ObjectId(tokens.extended), '$$REMOVE'] },
      new ObjectId(tokens.opened),
    ],
  };
  return {
    spans: { $cond: [isOpen, extended, { $concatArrays: [spans, [span]] }] },
    // A mark that is there tells of a call that was cut off, and of a count that may be wrong.
    settling: { $ifNull: ['$settling', mark] },
    active: true,
    ...events.staged('follow.opened', clock.now(), { $not: [isOpen] }),
  };
}

export function followsRepository(collection: Collection<FollowDocument>, events: EventEntries = NO_EVENTS) {
  return {
    /**
     * Opens a span for each pair that has none open, and lets the open span of the others begin earlier where the new one
     * does, in one write. What was changed is marked until it is settled, with the token that says how. Pairs must
     * differ. Unique key: refId, followerId.
     */
    async open(newSpans: readonly NewSpan[], tokens: OpeningTokens): Promise<void> {
      const operations = newSpans.map(({ followerId, refId, since, sinceAction }) => {
        const first = sinceAction === undefined ? undefined : new ObjectId(sinceAction);
        const span = { since, ...(first === undefined ? {} : { sinceAction: first }) };
        return {
          updateOne: {
            filter: { refId, followerId },
            update: [{ $set: openingStage(span, tokens, events) }],
            upsert: true,
          },
        };
      });
      await retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false }));
    },

    /**
     * Ends the open span, or deletes all spans, in one write, marked with the token until it is settled. Null when
     * there was nothing to end and nothing left to settle; otherwise the spans as they were, and whose mark the follow
     * bears now. A mark by somebody else tells of a call that was cut off.
     */
    async close(
      { followerId, refId }: FollowPair,
      change: { readonly now: Date; readonly keepHistory: boolean; readonly token: string },
    ): Promise<EndedFollow | null> {
      const mark = new ObjectId(change.token);
      const ended = {
        $map: {
          input: '$spans',
          as: 'span',
          in: { $mergeObjects: ['$$span', { until: { $ifNull: ['$$span.until', change.now] } }] },
        },
      };
      const before = await collection.findOneAndUpdate(
        { refId, followerId },
        [
          {
            $set: {
              // Only an open follow was counted: an earlier mark on it tells of a count that never came.
              settling: {
                $cond: [
                  { $and: ['$active', { $not: [{ $gt: ['$settling', null] }] }] },
                  mark,
                  { $ifNull: ['$settling', change.keepHistory ? '$$REMOVE' : mark] },
                ],
              },
              spans: change.keepHistory ? ended : [],
              active: false,
              ...events.staged('follow.closed', change.now, { $eq: ['$active', true] }),
            },
          },
        ],
        { returnDocument: 'before' },
      );
      if (before === null) return null;
      const spans = toSpans(before.spans);
      if (before.settling !== undefined)
        return { spans, token: before.settling.toHexString(), isOurs: false };
      if (before.active) return { spans, token: change.token, isOurs: true };
      return change.keepHistory ? null : { spans, token: change.token, isOurs: false };
    },

    /**
     * Takes the mark away where it is still the given one; a follow without spans goes altogether, as soon as hosts need
     * not be told of it any more.
     */
    async forget({ followerId, refId }: FollowPair, token: string): Promise<void> {
      const key = { refId, followerId, settling: new ObjectId(token) };
      const { deletedCount } = await collection.deleteOne({
        ...key,
        active: false,
        spans: { $size: 0 },
        unsentAt: { $exists: false },
      });
      if (deletedCount === 0) await collection.updateOne(key, { $unset: { settling: 1 } });
    },

    /** The unsettled follows among the pairs, no matter who opened them. Index `followers`. */
    async unsettled(pairs: readonly FollowPair[]): Promise<UnsettledFollow[]> {
      const documents = await collection
        .find({
          refId: { $in: [...new Set(pairs.map((pair) => pair.refId))] },
          followerId: { $in: [...new Set(pairs.map((pair) => pair.followerId))] },
          settling: { $exists: true },
        })
        .toArray();
      const asked = new Set(pairs.map((pair) => JSON.stringify([pair.followerId, pair.refId])));
      return documents.flatMap(({ followerId, refId, spans, settling }) =>
        settling === undefined || !asked.has(JSON.stringify([followerId, refId]))
          ? []
          : [{ followerId, refId, spans: toSpans(spans), token: settling.toHexString() }],
      );
    },

    /** Those that have been unsettled since before then, the oldest first. Index `unsettled`. */
    async unsettledBefore(before: Date, limit: number): Promise<(FollowPair & { readonly token: string })[]> {
      const first = ObjectId.createFromTime(Math.floor(before.getTime() / 1_000));
      const documents = await collection
        // `$exists` names the partial index's own condition.
        .find({ settling: { $exists: true, $lt: first } })
        .sort({ settling: 1 })
        .project<Required<Pick<FollowDocument, 'followerId' | 'refId' | 'settling'>>>({
          ...{ _id: 0, followerId: 1, refId: 1, settling: 1 },
        })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      return documents.map(({ followerId, refId, settling }) => ({
        ...{ followerId, refId },
        token: settling.toHexString(),
      }));
    },

    /** Takes the marks away, where they are still the given ones. */
    async settle(follows: readonly UnsettledFollow[]): Promise<void> {
      if (follows.length === 0) return;
      await collection.bulkWrite(
        follows.map(({ followerId, refId, token }) => ({
          updateOne: {
            filter: { refId, followerId, settling: new ObjectId(token) },
            update: { $unset: { settling: 1 as const } },
          },
        })),
        { ordered: false },
      );
    },

    ...followReads(collection),
  };
}

export type FollowsRepository = ReturnType<typeof followsRepository>;
