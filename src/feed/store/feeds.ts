import { upToEntries } from '../../lib/weight.ts';
import { LRUCache } from 'lru-cache';
import type { Collection, Filter } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import type { FeedPosition } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { FeedDocument, ReaderListDocument } from '../../storage/documents/reader-documents.ts';
import { retryOnDuplicateKey } from '../../storage/database/errors.ts';
import { FIRST_EPOCH } from './feed-epochs.ts';
import { mutesOf } from '../../storage/documents/mute-document.ts';
import { floorOf, toPlace, toPosition } from './feed-position.ts';
import { NO_STAMPS, type ReaderStamps } from '../../storage/stamps/reader-stamps.ts';
import { newRevision } from '../../storage/stages/revision.ts';
import { idsOf, inOneBatch } from '../../storage/database/batches.ts';
import { type Declared, index, NOT_OF_ACTIONS } from '../../storage/documents/declaration.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly feeds: ReturnType<typeof feedsRepository>;
  }
}

export const FEEDS: Declared<'feeds'> = {
  name: 'feeds',
  holds: 'facts about a reader and their feed: watermark, mutes, state of the stored feed',
  ids: { member: ['_id'] },
  indexes: [
    index('mutes', { 'mutes.value': 1 }, 'erasure and export: who mutes somebody', { sparse: true }),
    index('mute_wake', { 'muteEnd.due': 1 }, 'whose mutes have come to an end', {
      partialFilterExpression: { 'muteEnd.due': { $exists: true } },
    }),
    index('active', { activeAt: 1 }, 'whether anybody has stopped reading', { sparse: true }),
    index('awaited', { awaitedSince: 1 }, 'whether anybody has not begun to read', {
      partialFilterExpression: { awaitedSince: { $exists: true } },
    }),
    index('trim', { trimAt: 1 }, 'the next feed whose rest may be forgotten', {
      partialFilterExpression: { trimAt: { $exists: true } },
    }),
    index('floor', { 'floor.relevancy': 1 }, 'delivery: whose stored feeds may lack a raised action', {
      partialFilterExpression: { 'floor.relevancy': { $exists: true } },
    }),
    index('rebuild', { 'rebuild.due': 1 }, 'the next feed to rebuild', {
      partialFilterExpression: { 'rebuild.due': { $exists: true } },
    }),
    index('digest', { 'digest.due': 1 }, 'events for hosts: the next readers to be reminded', {
      partialFilterExpression: { 'digest.due': { $exists: true } },
    }),
  ],
  shard: { key: { _id: 1 }, serves: 'the marks of a reader' },
  erase: ['MUTES', 'PROFILE'],
  export: ['reader', 'mutedBy'],
  action: NOT_OF_ACTIONS,
};

/** A reader's settings of their feed, and its state. */
export type ReaderMarks = Pick<
  ReaderProfile,
  | 'lastRead'
  | 'viewsRead'
  | 'lists'
  | 'showsLess'
  | 'mutes'
  | 'hasMarks'
  | 'hasUnreadMarks'
  | 'hasEnds'
  | 'checksFollows'
  | 'hasAssigned'
  | 'isRebuilding'
  | 'floor'
  | 'rebuiltAt'
  | 'activeAt'
> & {
  /** There are or were blocks between the reader and others: they must be loaded. */
  readonly hasBlocks: boolean;
  /** Changes with them; `null`: one may be changing. */
  readonly blocksRev: number | null;
};

/** @param epoch of the current feed model; see `feed-epochs.ts`. */
export function toMarks(document: FeedDocument | null, epoch: number = FIRST_EPOCH): ReaderMarks {
  return {
    floor: floorOf(document, epoch),
    rebuiltAt: document?.rebuiltAt ?? null,
    activeAt: document?.activeAt ?? null,
    lastRead: document?.lastRead ?? null,
    viewsRead: document?.viewsRead ?? {},
    lists: document?.lists ?? [],
    showsLess: (document?.showsLess ?? []).map(({ actionId, until }) => ({
      ...{ actionId: actionId.toHexString(), until },
    })),
    mutes: mutesOf(document),
    hasBlocks: document?.hasBlocks ?? false,
    blocksRev: document?.blocksRev ?? null,
    hasMarks: document?.hasMarks ?? false,
    hasUnreadMarks: document?.hasUnreadMarks ?? false,
    hasEnds: document?.hasSnoozes ?? false,
    checksFollows: document?.checksFollows === true || (document?.lists ?? []).some(isExclusive),
    hasAssigned: document?.hasAssigned ?? false,
    isRebuilding: document?.rebuild !== undefined,
  };
}

function isExclusive(list: ReaderListDocument): boolean {
  return list.isExclusive;
}

/** Read marks as a process read them last, of the readers whom it saw last. They may have moved since. */
export class KnownReadMarks {
  readonly #marks = new LRUCache<UserId, Date>(upToEntries(10_000));

  of(userId: UserId): Date | null {
    return this.#marks.get(userId) ?? null;
  }

  keep(userId: UserId, lastRead: Date | null): void {
    if (lastRead === null) this.#marks.delete(userId);
    else this.#marks.set(userId, lastRead);
  }
}

/** Marks readers with blocks, and says that these have changed. */
function feedBlocks(collection: Collection<FeedDocument>) {
  return {
    /** Blocks of these readers are to be loaded, and are about to change: nothing that is made of them is kept. One write. */
    async markBlocks(userIds: readonly UserId[]): Promise<void> {
      const update = { $set: { hasBlocks: true as const }, $unset: { blocksRev: 1 as const } };
      const operations = userIds.map((_id) => ({ updateOne: { filter: { _id }, update, upsert: true } }));
      await retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false }));
    },

    /** The same of readers with blocks, whose blocks are about to change. One write. */
    async suspendBlocks(userIds: readonly UserId[]): Promise<void> {
      await collection.updateMany({ _id: { $in: [...userIds] } }, { $unset: { blocksRev: 1 } });
    },

    /** Blocks of these readers have changed: what was made of them before is not used again. One write. */
    async renewBlocks(userIds: readonly UserId[]): Promise<void> {
      await collection.updateMany({ _id: { $in: [...userIds] } }, { $set: { blocksRev: newRevision() } });
    },
  };
}

/** One document per reader. Unique key: `_id`. @param epoch see `feed-epochs.ts`. */
export function feedsRepository(
  collection: Collection<FeedDocument>,
  epoch: number = FIRST_EPOCH,
  stamps: ReaderStamps = NO_STAMPS,
) {
  async function set(userId: UserId, update: Parameters<typeof collection.updateOne>[1]): Promise<void> {
    await retryOnDuplicateKey(() => collection.updateOne({ _id: userId }, update, { upsert: true }));
  }

  /** Sets flags that affect the feed. If they change, a second write renews the stamp. */
  async function setDeciding(userId: UserId, flags: Partial<FeedDocument>): Promise<void> {
    const { modifiedCount, upsertedCount } = await retryOnDuplicateKey(() =>
      collection.updateOne({ _id: userId }, { $set: flags }, { upsert: true }),
    );
    if (modifiedCount + upsertedCount > 0) await stamps.renew([userId]);
  }

  return {
    ...feedBlocks(collection),

    /** Reads the document of a reader; `null`: there is none. No round trip. */
    marksIn: (document: FeedDocument | null): ReaderMarks => toMarks(document, epoch),

    async marks(userId: UserId): Promise<ReaderMarks> {
      return toMarks(await collection.findOne({ _id: userId }), epoch);
    },

    /** Moves a read mark forward, never back. @param view whose mark it is; `null`: that of the feed */
    markRead: (userId: UserId, upTo: Date, view: string | null = null) =>
      set(userId, { $max: view === null ? { lastRead: upTo } : { [`viewsRead.${view}`]: upTo } }),

    /** Makes sure that there is something stored about the reader. */
    begin: (userId: UserId) => set(userId, { $setOnInsert: { hasMarks: false } }),

    /** Records that the reader is reading, and returns their marks. One atomic write. */
    async touch(userId: UserId, now: Date): Promise<ReaderMarks> {
      const document = await retryOnDuplicateKey(() =>
        collection.findOneAndUpdate(
          { _id: userId },
          { $max: { activeAt: now } },
          { upsert: true, returnDocument: 'after' },
        ),
      );
      return toMarks(document, epoch);
    },

    /** Whether there are dormant readers. Indexes `active`, `awaited`. */
    async hasDormant({ read, neverRead }: UnreadSince): Promise<boolean> {
      const projection = { _id: 1 };
      const kinds: Filter<FeedDocument>[] = [];
      if (read !== null) kinds.push({ activeAt: { $lt: read } });
      if (neverRead !== null) kinds.push({ awaitedSince: { $exists: true, $lt: neverRead } });
      const found = await Promise.all(kinds.map((kind) => collection.findOne(kind, { projection })));
      return found.some((document) => document !== null);
    },

    /**
     * Dormant ones among the readers, to whom nothing is delivered: their feeds are marked stale first, so that a concurrent
     * read knows that something is missing. One round trip if nobody is dormant, otherwise three.
     */
    async skipDormant(userIds: readonly UserId[], since: UnreadSince): Promise<UserId[]> {
      const isDormant = { _id: { $in: [...userIds] }, ...isUnread(since) };
      const ids = await idsOf(collection.find(isDormant));
      if (ids.length === 0) return [];
      // Voids a running rebuild, which does not know about deliveries skipped from now on.
      await collection.updateMany(
        { ...isDormant, _id: { $in: ids }, isStale: { $ne: true } },
        { $set: { isStale: true }, $inc: { rebuildVersion: 1 } },
      );
      return idsOf(collection.find({ ...isDormant, _id: { $in: ids }, isStale: true }));
    },

    /** Raises the floor, never lowers it, and schedules the deletion of entries below. */
    async raiseFloor(userId: UserId, floor: FeedPosition, trimAt: Date): Promise<void> {
      const { relevancy, actionId } = toPlace(floor);
      await retryOnDuplicateKey(() =>
        collection.updateOne(
          { _id: userId },
          [
            {
              $set: {
                floor: {
                  $cond: [
                    {
                      $or: [
                        { $gt: ['$floor.relevancy', relevancy] },
                        {
                          $and: [
                            { $eq: ['$floor.relevancy', relevancy] },
                            { $gt: ['$floor.actionId', actionId] },
                          ],
                        },
                      ],
                    },
                    '$floor',
                    { relevancy, actionId },
                  ],
                },
                trimAt,
              },
            },
          ],
          { upsert: true },
        ),
      );
    },

    ...feedTrims(collection),

    ...feedDrops(collection),

    markHasMarks: (
      userId: UserId,
      { hasEnds, ...more }: { hasUnreadMarks?: boolean; hasEnds?: boolean } = {},
    ) => setDeciding(userId, { hasMarks: true, ...more, ...(hasEnds === true ? { hasSnoozes: true } : {}) }),

    markChecksFollows: (userId: UserId) => setDeciding(userId, { checksFollows: true }),

    /**
     * Makes boosts take these readers' assigned follows into account, or reads check entries delivered to them against their
     * follows. Two writes. Unique key: `_id`.
     */
    async markFollows(
      userIds: readonly UserId[],
      mark: { readonly hasAssigned: true } | { readonly checksFollows: true },
    ): Promise<void> {
      if (userIds.length === 0) return;
      const operations = userIds.map((userId) => ({
        updateOne: { filter: { _id: userId }, update: { $set: mark }, upsert: true },
      }));
      await retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false }));
      await stamps.renew(userIds);
    },
  };
}

/** A feed with entries to delete at its floor and below. */
export interface DueTrim {
  readonly userId: UserId;
  readonly floor: FeedPosition;
  readonly trimAt: Date;
}

/** Feeds of which the rest below the floor may be deleted. Part of the repository of feeds. */
function feedTrims(collection: Collection<FeedDocument>) {
  return {
    /** Leaves out feeds that are to be rebuilt, since that sets the floor again. Index `trim`. */
    async dueTrims(now: Date, limit: number): Promise<DueTrim[]> {
      const documents = await collection
        .find({ trimAt: { $exists: true, $lte: now }, 'rebuild.due': { $exists: false } })
        .sort({ trimAt: 1 })
        .limit(limit)
        .toArray();
      return documents.flatMap(({ _id, floor, trimAt }) =>
        floor === undefined || trimAt === undefined
          ? []
          : [{ userId: _id, trimAt, floor: toPosition(floor) }],
      );
    },

    /**
     * Blocks rebuilds of the feed until a time: one that continues below the floor would store there what is being deleted.
     * `false`: a rebuild has become due, the floor has risen, or the feed is being trimmed or dropped already.
     */
    async beginTrim(
      { userId, trimAt }: DueTrim,
      { now, until }: { readonly now: Date; readonly until: Date },
    ): Promise<boolean> {
      const { matchedCount } = await collection.updateOne(
        { _id: userId, trimAt, 'rebuild.due': { $exists: false }, dropUntil: { $not: { $gt: now } } },
        { $set: { dropUntil: until } },
      );
      return matchedCount === 1;
    },

    /** Records that the entries were deleted, unless the floor has risen again since, and lets rebuilds begin. */
    async finishTrim({ userId, trimAt }: DueTrim, until: Date): Promise<void> {
      await collection.updateOne({ _id: userId, dropUntil: until }, [
        {
          $set: {
            trimAt: {
              $cond: [{ $eq: ['$trimAt', trimAt] }, '$$REMOVE', { $ifNull: ['$trimAt', '$$REMOVE'] }],
            },
          },
        },
        { $unset: ['dropUntil'] },
      ]);
    },
  };
}

/** Readers whose last read is before `read`, or who never read and had deliveries before `neverRead`. `null`: none. */
export interface UnreadSince {
  readonly read: Date | null;
  readonly neverRead: Date | null;
}

/** Filter for readers who have not read since. */
function isUnread({ read, neverRead }: UnreadSince): Filter<FeedDocument> {
  const kinds: Filter<FeedDocument>[] = [];
  if (read !== null) kinds.push({ activeAt: { $lt: read } });
  if (neverRead !== null)
    kinds.push({ activeAt: { $exists: false }, awaitedSince: { $exists: true, $lt: neverRead } });
  return { $or: kinds };
}

/** Feeds that are not stored because nobody reads them. Part of the repository of feeds. */
function feedDrops(collection: Collection<FeedDocument>) {
  return {
    /** Records the first delivery to readers who have never read. One round trip if it is already recorded for all. */
    async noteAwaited(userIds: readonly UserId[], now: Date): Promise<void> {
      const known = await inOneBatch(
        collection
          .find({
            _id: { $in: [...userIds] },
            $or: [{ activeAt: { $exists: true } }, { awaitedSince: { $exists: true } }],
          })
          .project<{ _id: string }>({ _id: 1 }),
        userIds.length,
      );
      const isKnown = new Set(known.map(({ _id }) => _id));
      const operations = userIds
        .filter((userId) => !isKnown.has(userId))
        .map((_id) => ({
          updateOne: { filter: { _id }, update: { $min: { awaitedSince: now } }, upsert: true },
        }));
      if (operations.length > 0)
        await retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false }));
    },

    /** Inactive readers whose feeds may be stored, in order of id. */
    async unread(since: UnreadSince, after: UserId | null, limit: number): Promise<UserId[]> {
      if (since.read === null && since.neverRead === null) return [];
      return idsOf(
        collection
          .find({
            ...isUnread(since),
            ...(after === null ? {} : { _id: { $gt: after } }),
            isDropped: { $exists: false },
            'rebuild.due': { $exists: false },
          })
          .sort({ _id: 1 })
          .limit(limit),
      );
    },

    /**
     * Marks stored feeds as incomplete and blocks rebuilds until a time. Does nothing for readers who have read meanwhile.
     * @returns the readers marked
     */
    async beginDrop(
      userIds: readonly UserId[],
      since: UnreadSince,
      { now, until }: { readonly now: Date; readonly until: Date },
    ): Promise<UserId[]> {
      if (userIds.length === 0) return [];
      const ids = { _id: { $in: [...userIds] } };
      await collection.updateMany(
        // Only one drop at a time: a late one would delete what was rebuilt since.
        {
          ...{ ...ids, ...isUnread(since), 'rebuild.due': { $exists: false } },
          dropUntil: { $not: { $gt: now } },
        },
        { $set: { isStale: true, dropUntil: until }, $inc: { rebuildVersion: 1 } },
      );
      return idsOf(collection.find({ ...ids, dropUntil: until }));
    },

    /** Records that the feeds are no longer stored. */
    async finishDrop(userIds: readonly UserId[], until: Date): Promise<void> {
      await collection.updateMany(
        { _id: { $in: [...userIds] }, dropUntil: until },
        { $set: { isDropped: true }, $unset: { dropUntil: 1, floor: 1, trimAt: 1 } },
      );
    },
  };
}
