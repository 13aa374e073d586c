import { ObjectId, type Collection, type Document } from 'mongodb';
import type { FollowSpan } from '../../../domain/follow-span.ts';
import { NOTIFICATION_WINDOW_MS } from '../../../domain/notification.ts';
import type { Follow } from '../../../domain/viewer.ts';
import { clock } from '../../../lib/clock.ts';
import { gathered } from '../../../lib/gathered.ts';
import { insertMissing } from '../../../storage/database/batches.ts';
import type { FollowDocument } from '../../../storage/documents/reader-documents.ts';
import { retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import { followReads } from './follow-reads.ts';
import {
  exportedFollow,
  toFollow,
  toSpans,
  type FollowPair,
} from '../../../storage/documents/follow-document.ts';
import { NO_EVENTS, type EventEntries } from '../../../storage/stages/event-entries.ts';
import { type Declared, index, UNSENT, NOT_OF_ACTIONS } from '../../../storage/documents/declaration.ts';
import type { ActionId } from '../../../domain/action.ts';
import { literal } from '../../../storage/stages/revision.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly followEnds: ReturnType<typeof followEndsRepository>;
    readonly follows: ReturnType<typeof followsRepository>;
  }
}

export interface NewSpan extends FollowPair {
  readonly since: Date;
  readonly sinceAction?: ActionId;
  /** Sorted, without duplicates. `null`: all types. Absent: unchanged, or all types for a new follow. */
  readonly types?: readonly string[] | null | undefined;
  /** Absent: unchanged, or false for a new follow. */
  readonly isAssigned?: boolean | undefined;
}

/** Tokens with which a call that opens follows marks them until they are settled. */
export interface OpeningTokens {
  /** The pair was not followed: the follower must be counted. */
  readonly opened: string;
  /** The pair was followed, and its span now starts earlier. */
  readonly extended: string;
  /** The pair was followed with different options. */
  readonly changed: string;
}

interface Opening {
  readonly tokens: OpeningTokens;
  readonly now: Date;
  readonly events: EventEntries;
}

/** Calls whose follows are settled together. */
const CALLS_AT_ONCE = 50;
/** The most follows that calls at the same time insert together; a call for more inserts alone. */
const INSERTED_AT_ONCE = 50;

const IS_OPEN: Document = { $eq: ['$active', true] };
const SPANS: Document = { $ifNull: ['$spans', []] };
const HAS_NO_END: Document = { $not: [{ $gt: ['$$span.until', null] }] };

/** Update pipeline fields that open or change a follow. */
function openingStage(span: NewSpan, { tokens, now, events }: Opening): Document {
  const { since, types, isAssigned } = span;
  const place = {
    since,
    ...(span.sinceAction === undefined ? {} : { sinceAction: new ObjectId(span.sinceAction) }),
  };
  const opened = { ...place, ...(types == null ? {} : { types: literal(types) }) };
  const extended = inEach({ $cond: [beginsAfter(place), { $mergeObjects: ['$$span', place] }, '$$span'] });
  const ended = inEach({ $mergeObjects: ['$$span', { until: { $ifNull: ['$$span.until', now] } }] });
  const hasOtherTypes = types === undefined ? false : { $ne: [OPEN_TYPES, literal(types)] };
  const isChanged = {
    $or: [
      hasOtherTypes,
      isAssigned === undefined ? false : { $ne: [{ $ifNull: ['$isAssigned', false] }, isAssigned] },
    ],
  };
  const mark = {
    $switch: {
      branches: [
        { case: { $not: [IS_OPEN] }, then: new ObjectId(tokens.opened) },
        { case: isChanged, then: new ObjectId(tokens.changed) },
        { case: hasAny(beginsAfter(place)), then: new ObjectId(tokens.extended) },
      ],
      default: '$$REMOVE',
    },
  };
  return {
    spans: {
      $switch: {
        branches: [
          { case: { $not: [IS_OPEN] }, then: { $concatArrays: [SPANS, [opened]] } },
          { case: hasOtherTypes, then: { $concatArrays: [ended, [opened]] } },
        ],
        default: extended,
      },
    },
    isAssigned: assignment(isAssigned),
    // Whatever has ended it, a follow is in no list when it is taken up again.
    lists: { $cond: [IS_OPEN, { $ifNull: ['$lists', '$$REMOVE'] }, '$$REMOVE'] },
    openedAt: openedSince(now),
    assignedAt: assignedSince(isAssigned, now),
    // An existing mark means that a call was interrupted and the count may be wrong.
    settling: { $ifNull: ['$settling', mark] },
    active: true,
    ...events.stagedOneOf(
      [
        { type: 'follow.opened', when: { $not: [IS_OPEN] } },
        // One that is assigned when it opens has the first event alone.
        ...(isAssigned === true
          ? [{ type: 'follow.assigned', when: { $ne: ['$isAssigned', true] } } as const]
          : []),
      ],
      now,
    ),
  };
}

/** One that is taken up again is not news each time. */
function openedSince(now: Date): Document {
  const isNews = { $gt: ['$openedAt', new Date(now.getTime() - NOTIFICATION_WINDOW_MS)] };
  return { $cond: [{ $or: [IS_OPEN, isNews] }, { $ifNull: ['$openedAt', '$$REMOVE'] }, now] };
}

/** A new follow, as `openingStage` makes it from nothing. */
function openedDocument(span: NewSpan, { tokens, now, events }: Opening): FollowDocument {
  const { followerId, refId, since, sinceAction, types, isAssigned } = span;
  return {
    ...{ _id: new ObjectId(), followerId, refId, active: true, openedAt: now },
    spans: [
      {
        since,
        ...(sinceAction === undefined ? {} : { sinceAction: new ObjectId(sinceAction) }),
        ...(types == null ? {} : { types: [...types] }),
      },
    ],
    ...(isAssigned === true ? { isAssigned, assignedAt: now } : {}),
    settling: new ObjectId(tokens.opened),
    ...events.inserted('follow.opened', now),
  };
}

function nameOf({ followerId, refId }: FollowPair): string {
  return JSON.stringify([followerId, refId]);
}

/** Types of the open span; `null`: all types. */
const OPEN_TYPES: Document = {
  $let: {
    vars: { open: { $first: { $filter: { input: SPANS, as: 'span', cond: HAS_NO_END } } } },
    in: { $ifNull: ['$$open.types', null] },
  },
};

function assignment(isAssigned: boolean | undefined): unknown {
  if (isAssigned === undefined)
    return { $cond: [IS_OPEN, { $ifNull: ['$isAssigned', '$$REMOVE'] }, '$$REMOVE'] };
  return isAssigned ? true : '$$REMOVE';
}

/** Present while the follow is assigned. */
function assignedSince(isAssigned: boolean | undefined, now: Date): unknown {
  if (isAssigned === false) return '$$REMOVE';
  const since = { $ifNull: ['$assignedAt', isAssigned === true ? now : '$$REMOVE'] };
  return { $cond: [IS_OPEN, since, isAssigned === true ? now : '$$REMOVE'] };
}

/** Whether the open span starts after that position. */
function beginsAfter({
  since,
  sinceAction,
}: {
  readonly since: Date;
  readonly sinceAction?: ObjectId;
}): Document {
  const beginsInIt = {
    $and: [
      { $eq: ['$$span.since', since] },
      { $gt: ['$$span.sinceAction', sinceAction ?? null] },
      sinceAction !== undefined,
    ],
  };
  return { $and: [HAS_NO_END, { $or: [{ $gt: ['$$span.since', since] }, beginsInIt] }] };
}

function inEach(expression: Document): Document {
  return { $map: { input: SPANS, as: 'span', in: expression } };
}

function hasAny(cond: Document): Document {
  return { $gt: [{ $size: { $filter: { input: SPANS, as: 'span', cond } } }, 0] };
}

export const FOLLOWS: Declared<'follows'> = {
  name: 'follows',
  holds: 'what a reader follows or followed, and when',
  ids: { member: ['followerId'], ref: ['refId'] },
  indexes: [
    index(
      'pair',
      { followerId: 1, refId: 1 },
      'one follow per pair; what a reader follows, in a stable order',
      { unique: true },
    ),
    index('by_ref', { refId: 1, followerId: 1 }, 'fan-out: followers of a ref in a stable order'),
    index('assigned', { refId: 1, followerId: 1 }, 'fan-out: whom what is done concerns', {
      partialFilterExpression: { isAssigned: true },
    }),
    index(
      'in_list',
      { followerId: 1, lists: 1, refId: 1 },
      'what a list of a reader contains, in a stable order',
      {
        partialFilterExpression: { lists: { $exists: true } },
      },
    ),
    index('opened', { refId: 1, openedAt: -1 }, 'notifications: who has followed a member, newest first', {
      partialFilterExpression: { openedAt: { $exists: true } },
    }),
    index(
      'assigned_at',
      { followerId: 1, assignedAt: -1 },
      'notifications: what a member was assigned to, newest first',
      {
        partialFilterExpression: { assignedAt: { $exists: true } },
      },
    ),
    index('unsettled', { settling: 1 }, 'upkeep: follows and unfollows that were cut off', {
      partialFilterExpression: { settling: { $exists: true } },
    }),
    UNSENT,
  ],
  shard: { key: { followerId: 1, refId: 1 }, serves: 'follows of a reader; follow and unfollow' },
  erase: ['FOLLOWERS_COPY', 'FOLLOWS', 'FOLLOWERS'],
  export: [
    'followers',
    {
      section: 'follows',
      of: 'followerId',
      entry: exportedFollow,
    },
  ],
  action: NOT_OF_ACTIONS,
};

/** A changed follow whose history, options or count are not settled yet. */
export interface UnsettledFollow extends Follow, FollowPair {
  /** Identifies the call that changed it, and how. */
  readonly token: string;
}

export interface EndedFollow {
  readonly spans: readonly FollowSpan[];
  readonly wasAssigned: boolean;
  /** Token of the call whose mark the follow has. */
  readonly token: string;
  /** Whether that is this call. */
  readonly isOurs: boolean;
}

function toUnsettled(document: FollowDocument): UnsettledFollow[] {
  const { followerId, settling } = document;
  return settling === undefined ? [] : [{ ...toFollow(document), followerId, token: settling.toHexString() }];
}

export function followsRepository(collection: Collection<FollowDocument>, events: EventEntries = NO_EVENTS) {
  /** The unsettled follows among the pairs, no matter who opened them. Index `by_ref`. */
  async function unsettled(pairs: readonly FollowPair[]): Promise<UnsettledFollow[]> {
    const documents = await collection
      .find({
        refId: { $in: [...new Set(pairs.map((pair) => pair.refId))] },
        followerId: { $in: [...new Set(pairs.map((pair) => pair.followerId))] },
        settling: { $exists: true },
      })
      .toArray();
    const asked = new Set(pairs.map(nameOf));
    return documents.filter((document) => asked.has(nameOf(document))).flatMap(toUnsettled);
  }

  const insert = gathered(
    (lists: readonly (readonly FollowDocument[])[]) => insertMissing(collection, lists.flat(), nameOf),
    { most: INSERTED_AT_ONCE, sizeOf: ({ length }) => length },
  );

  /** Inserts follows, but for those of which another call has made a document meanwhile. */
  async function insertNew(missing: readonly NewSpan[], opening: Opening) {
    if (missing.length === 0) return { inserted: [], overtaken: [] };
    const made = missing.map((span) => ({ span, document: openedDocument(span, opening) }));
    const refused = await insert(made.map(({ document }) => document));
    return {
      inserted: made.flatMap(({ document }) => (refused.has(document) ? [] : toUnsettled(document))),
      overtaken: made.flatMap(({ span, document }) => (refused.has(document) ? [span] : [])),
    };
  }

  const settle = gathered(
    (all: readonly (readonly UnsettledFollow[])[]) => {
      const own = all.flat();
      return collection.updateMany(
        {
          refId: { $in: [...new Set(own.map(({ refId }) => refId))] },
          followerId: { $in: [...new Set(own.map(({ followerId }) => followerId))] },
          settling: {
            $exists: true,
            $in: [...new Set(own.map(({ token }) => token))].map((id) => new ObjectId(id)),
          },
        },
        { $unset: { settling: 1 as const } },
      );
    },
    { most: CALLS_AT_ONCE },
  );

  return {
    /**
     * Opens a span for each pair without an open one. Otherwise the open span starts earlier if the new one does; with
     * different types it ends now and a new one is opened. All in one write. Changed follows are marked, with the token that
     * says how, until they are settled. Pairs must differ. Unique key: followerId, refId. Returns those that are unsettled, no
     * matter who opened them: one round trip if all are new, two for one follow, three for several.
     * @param of.known pairs of which there is a document, as far as somebody has looked: others are inserted first, which
     *   takes a database a fraction of an upsert by a pipeline
     */
    async open(
      newSpans: readonly NewSpan[],
      tokens: OpeningTokens,
      { now = clock.now(), known = [] }: { readonly now?: Date; readonly known?: readonly FollowPair[] } = {},
    ): Promise<UnsettledFollow[]> {
      const opening = { tokens, now, events };
      const upserted = (span: NewSpan) => ({
        filter: { refId: span.refId, followerId: span.followerId },
        update: [{ $set: openingStage(span, opening) }],
      });
      const [first, ...others] = newSpans;
      if (first === undefined) return [];
      const there = new Set(known.map(nameOf));
      const missing = newSpans.filter((span) => !there.has(nameOf(span)));
      const { overtaken, inserted } = await insertNew(missing, opening);
      if (others.length === 0) {
        if (inserted.length > 0) return inserted;
        const { filter, update } = upserted(first);
        const opened = await retryOnDuplicateKey(() =>
          collection.findOneAndUpdate(filter, update, { upsert: true, returnDocument: 'after' }),
        );
        return opened === null ? [] : toUnsettled(opened);
      }
      const rest = [...newSpans.filter((span) => there.has(nameOf(span))), ...overtaken];
      const all = rest.map((span) => ({ updateOne: { ...upserted(span), upsert: true } }));
      if (all.length === 0) return inserted;
      await retryOnDuplicateKey(() => collection.bulkWrite(all, { ordered: false }));
      return unsettled(newSpans);
    },

    /**
     * Ends the open span, or deletes all spans, in one write, and marks the follow with the token until it is settled.
     * `null` when there was nothing to end or to settle; otherwise the spans as they were, and whose mark the follow has
     * now. Another call's mark means that the call was interrupted.
     */
    async close(
      { followerId, refId }: FollowPair,
      change: { readonly now: Date; readonly keepHistory: boolean; readonly token: string },
    ): Promise<EndedFollow | null> {
      const tokens = { closed: change.token, dropped: change.token };
      const before = await collection.findOneAndUpdate(
        { refId, followerId },
        [{ $set: closingStage(tokens, change, events) }],
        { returnDocument: 'before' },
      );
      if (before === null) return null;
      const spans = toSpans(before.spans);
      const known = { spans, wasAssigned: before.active && before.isAssigned === true };
      if (before.settling !== undefined)
        return { ...known, token: before.settling.toHexString(), isOurs: false };
      if (before.active) return { ...known, token: change.token, isOurs: true };
      return change.keepHistory ? null : { ...known, token: change.token, isOurs: false };
    },

    /**
     * Removes the mark if it is still the given one. A follow without spans is deleted once its host events have been moved.
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

    unsettled,

    /** Follows that have been unsettled since before then, oldest first. Index `unsettled`. */
    async unsettledBefore(before: Date, limit: number): Promise<(FollowPair & { readonly token: string })[]> {
      const first = ObjectId.createFromTime(Math.floor(before.getTime() / 1_000));
      const documents = await collection
        // `$exists` states the partial index's condition.
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

    /**
     * Removes the marks where they are still the given ones. One write for several calls, and one more for marks of others.
     * @param own tokens of the caller, who gives all follows that have them: another call's mark may be on more
     */
    async settle(follows: readonly UnsettledFollow[], own: OpeningTokens): Promise<void> {
      const tokens = Object.values(own);
      const [ours, others] = [follows.filter(isOurs), follows.filter((follow) => !isOurs(follow))];
      function isOurs({ token }: UnsettledFollow): boolean {
        return tokens.includes(token);
      }
      if (ours.length > 0) await settle(ours);
      if (others.length > 0)
        await collection.bulkWrite(
          others.map(({ followerId, refId, token }) => ({
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
    ...(keepHistory ? {} : { openedAt: '$$REMOVE' }),
    assignedAt: '$$REMOVE',
    ...events.staged('follow.closed', now, { $eq: ['$active', true] }),
  };
}

export function followEndsRepository(follows: Collection<FollowDocument>, events: EventEntries = NO_EVENTS) {
  return {
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
