import { upTo } from '../../../../src/storage/database/batches.ts';
import { feedCollection, index } from '../../../../src/storage/documents/declaration.ts';
import {
  type FeedModel,
  type FeedQuery,
  type FeedStore,
  type FillOptions,
  type HoldersQuery,
  type ReaderDelivery,
  eachChunk,
  higher,
} from '../../../../src/feed/feed-store.ts';
import type { ActionId, UserId } from '../../../../src/domain/action.ts';
import {
  type FeedEntry,
  type FeedPosition,
  compareFeedPositions,
} from '../../../../src/domain/newsfeed-item.ts';
import { comesBefore, deliverInRounds, entriesAbove, nameOfEntry, separated, unite } from '../shared.ts';
import { isBehind, toEntry, toEntryDocument } from '../../../../src/feed/models/stored-entries.ts';
import { type Collection, type Document, ObjectId } from 'mongodb';
import type {
  FeedEntryDocument,
  FeedPlaceDocument,
} from '../../../../src/storage/documents/feed-documents.ts';
import { toPlace, toPosition } from '../../../../src/feed/store/feed-position.ts';
import { duplicatePositions, isDuplicateKey } from '../../../../src/storage/database/errors.ts';

const COLLECTION = 'feedTops';

export const topCacheModel: FeedModel = {
  name: 'top-cache',
  collections: [
    feedCollection(COLLECTION, {
      reader: '_id',
      holds: 'the newest entries of a feed',
      indexes: [
        index(
          'holders',
          { 'entries.actionId': 1, _id: 1 },
          'feed model top-cache: who holds an action; cascade',
        ),
      ],
      serves: 'the feed of a reader',
    }),
  ],
  open: ({ db, cap }) => {
    const kept = Math.min(cap, TOP_CACHE_MAX);
    return topCacheFeedStore(feedTopsRepository(db.collection(COLLECTION), kept), kept);
  },
};

/** A document of this many entries has about 0.8 MB; every delivery rewrites it. */
const TOP_CACHE_MAX = 10_000;

/** More concurrent writers of one document than this indicate a bug. */
const MAX_TRIES = 100;

/**
 * One document per reader with the newest entries of their feed, in order, and the floor. For sites whose readers look at
 * the top and seldom scroll: a page is one small read, and nothing grows.
 *
 * Every delivery is one atomic update of the reader's document: it adds the entry in order, evicts the last one and raises
 * the floor to it.
 *
 * Cost of a chunk: two or three commands, plus one unless it is the first attempt; the database writes one document of up to
 * `cap` entries per reader. A bump costs the same. A page is one read by `_id`, including the floor. A removal is one
 * `updateMany`. A fill reads and writes one document, and retries if another writer changed it meanwhile. Storage: about 80
 * bytes per entry and one index key; at most `cap` entries, and never more than TOP_CACHE_MAX.
 */
function topCacheFeedStore(tops: FeedTopsRepository, cap: number): FeedStore {
  return {
    model: 'top-cache',
    deliver: eachChunk((chunk) =>
      deliverInRounds(chunk, {
        holders: (userIds) => tops.holders(chunk.actionId, userIds),
        insert: (readers) => tops.insert(chunk.actionId, readers),
        // Inserts it again if it was evicted meanwhile.
        async raise(readers) {
          await tops.raise(
            chunk.actionId,
            readers.map(({ wanted }) => wanted),
          );
          return [];
        },
      }),
    ),
    async fill(userId, entries, options) {
      if (entries.length === 0 && options?.isCompleteDownTo == null) return [];
      return fill(userId, entries, options ?? {});
    },
    page: ({ userId, ...query }) => tops.page(userId, query),
    find: (userId, actionIds) => tops.find(userId, actionIds),
    held: (actionId, userIds) => tops.holders(actionId, userIds),
    holders: (actionId, query) => tops.someHolders(actionId, query),
    remove: (userIds, actionIds) => tops.remove(userIds, actionIds),
    trim: (userId, from) => tops.trim(userId, from),
    drop: (userId) => tops.drop(userId),
  };

  async function fill(
    userId: UserId,
    entries: readonly FeedEntry[],
    { isCompleteDownTo }: FillOptions,
  ): Promise<string[]> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const top = await tops.read(userId);
      const known = new Set(top.entries.map((entry) => entry.actionId));
      const filled = fillTop(top, entries, isCompleteDownTo ?? null, cap);
      if (filled === null || (await tops.replace(userId, filled)))
        return entries.filter((entry) => !known.has(entry.actionId)).map((entry) => entry.actionId);
    }
    throw new Error('Filling a feed failed: other writers changed it each time');
  }
}

/** `null` when nothing changes. */
function fillTop(
  top: FeedTop,
  entries: readonly FeedEntry[],
  completeDownTo: FeedPosition | null,
  cap: number,
): FeedTop | null {
  const floor = higher(top.floor, completeDownTo);
  const byId = new Map(top.entries.map((entry) => [entry.actionId, entry]));
  let isChanged = floor !== top.floor;
  for (const entry of entries) {
    const stored = byId.get(entry.actionId);
    if (stored !== undefined && !isBehind(stored, entry)) continue;
    byId.set(entry.actionId, stored === undefined ? entry : unite(stored, entry));
    isChanged = true;
  }
  if (!isChanged) return null;
  const all = [...byId.values()]
    .filter((entry) => floor === null || compareFeedPositions(entry, floor) < 0)
    .sort(compareFeedPositions);
  return { version: top.version, entries: all.slice(0, cap), floor: all[cap] ?? floor };
}

/** The newest entries of one reader's feed, best first. `_id` is the reader's id. */
interface FeedTopDocument {
  _id: string;
  entries: FeedEntryDocument[];
  /** The highest evicted position. */
  floor: FeedPlaceDocument | null;
  /** Changes with every write. */
  version: ObjectId;
}

interface FeedTop {
  readonly entries: readonly FeedEntry[];
  readonly floor: FeedPosition | null;
  /** Passed to `replace`. `null`: there is no document. */
  readonly version: string | null;
}

/** One document per reader with the newest `cap` entries, in order. Unique key: `_id`. */
function feedTopsRepository(collection: Collection<FeedTopDocument>, cap: number) {
  return {
    /**
     * One unordered write, or three commands for equal entries of many readers. Returns readers who seem to have it already.
     */
    async insert(actionId: ActionId, all: readonly ReaderDelivery[]): Promise<ReaderDelivery[]> {
      const { alike, others: readers } = separated(all, (entry) => nameOfEntry({ ...entry, actionId }));
      const id = new ObjectId(actionId);
      const lost: ReaderDelivery[] = [];
      for (const group of alike) lost.push(...(await putAlike(collection, cap, { actionId: id, group })));
      if (readers.length === 0) return lost;
      try {
        await collection.bulkWrite(
          readers.map((reader) => ({
            updateOne: {
              // If the reader has the action, this neither matches nor can be inserted: reported as a duplicate key.
              filter: { _id: reader.userId, $nor: [{ 'entries.actionId': id }] },
              update: putStages(id, reader, cap),
              upsert: true,
            },
          })),
          { ordered: false },
        );
        return lost;
      } catch (error) {
        return [...lost, ...duplicatePositions(error).flatMap((position) => readers[position] ?? [])];
      }
    },

    /** Raises relevancies and adds reasons in one unordered write; never lowers. */
    async raise(actionId: ActionId, readers: readonly ReaderDelivery[]): Promise<void> {
      if (readers.length === 0) return;
      const id = new ObjectId(actionId);
      await collection.bulkWrite(
        readers.map((reader) => ({
          updateOne: { filter: { _id: reader.userId }, update: putStages(id, reader, cap) },
        })),
        { ordered: false },
      );
    },

    /** The readers among these who have the action, with their entries. */
    async holders(actionId: ActionId, userIds: readonly UserId[]): Promise<ReaderDelivery[]> {
      const id = new ObjectId(actionId);
      const documents = await collection
        .aggregate<Pick<FeedTopDocument, '_id' | 'entries'>>([
          { $match: { _id: { $in: [...userIds] }, 'entries.actionId': id } },
          {
            $project: {
              entries: { $filter: { input: '$entries', as: 'held', cond: { $eq: ['$$held.actionId', id] } } },
            },
          },
        ])
        .toArray();
      return documents.flatMap(({ _id, entries }) =>
        entries.map(({ relevancy, reasons }) => ({ userId: _id, relevancy, reasons })),
      );
    },

    /** The whole document. */
    async read(userId: UserId): Promise<FeedTop> {
      const document = await collection.findOne({ _id: userId });
      return document === null
        ? { entries: [], floor: null, version: null }
        : {
            entries: document.entries.map(toEntry),
            floor: document.floor && toPosition(document.floor),
            version: document.version.toHexString(),
          };
    },

    /** Writes a modified document; returns false without writing if another writer changed it meanwhile. */
    async replace(userId: UserId, { entries, floor, version }: FeedTop): Promise<boolean> {
      try {
        const { matchedCount, upsertedCount } = await collection.updateOne(
          { _id: userId, version: version === null ? new ObjectId() : new ObjectId(version) },
          {
            $set: {
              entries: entries.map(toEntryDocument),
              floor: floor && toPlace(floor),
              version: new ObjectId(),
            },
          },
          { upsert: version === null },
        );
        return matchedCount + upsertedCount === 1;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    /** Returns only the requested part of the document. */
    async page(userId: UserId, query: FeedQuery): Promise<Omit<FeedTop, 'version'>> {
      const conditions = pageConditions(query);
      const input =
        conditions.length === 0
          ? '$entries'
          : { $filter: { input: '$entries', as: 'entry', cond: { $and: conditions } } };
      const [document] = await collection
        .aggregate<Pick<FeedTopDocument, 'entries' | 'floor'>>([
          { $match: { _id: userId } },
          { $project: { floor: 1, entries: { $slice: [input, query.limit] } } },
        ])
        .toArray();
      return {
        entries: (document?.entries ?? []).map(toEntry),
        floor: document?.floor == null ? null : toPosition(document.floor),
      };
    },

    async find(userId: UserId, actionIds: readonly ActionId[]): Promise<FeedEntry[]> {
      const ids = actionIds.map((id) => new ObjectId(id));
      const [document] = await collection
        .aggregate<Pick<FeedTopDocument, 'entries'>>([
          { $match: { _id: userId } },
          {
            $project: {
              entries: {
                $filter: { input: '$entries', as: 'held', cond: { $in: ['$$held.actionId', ids] } },
              },
            },
          },
        ])
        .toArray();
      return (document?.entries ?? []).map(toEntry);
    },

    /** The next readers who have the action, ordered by id. Index `holders`. */
    async someHolders(actionId: ActionId, { after = null, limit }: HoldersQuery): Promise<UserId[]> {
      const documents = await collection
        .find(
          {
            'entries.actionId': new ObjectId(actionId),
            ...(after === null ? {} : { _id: { $gt: after } }),
          },
          upTo(limit),
        )
        .sort({ _id: 1 })
        .project<{ _id: UserId }>({ _id: 1 })
        .toArray();
      return documents.map(({ _id }) => _id);
    },

    async remove(userIds: readonly UserId[], actionIds: readonly ActionId[]): Promise<void> {
      const ids = actionIds.map((id) => new ObjectId(id));
      await collection.updateMany(
        { _id: { $in: [...userIds] }, 'entries.actionId': { $in: ids } },
        { $pull: { entries: { actionId: { $in: ids } } }, $set: { version: new ObjectId() } },
      );
    },

    async trim(userId: UserId, from: FeedPosition): Promise<void> {
      await collection.updateOne({ _id: userId }, [
        { $set: { entries: entriesAbove(from), version: new ObjectId() } },
      ]);
    },

    async drop(userId: UserId): Promise<void> {
      await collection.deleteOne({ _id: userId });
    },
  };
}

type FeedTopsRepository = ReturnType<typeof feedTopsRepository>;

function pageConditions({ after, since, until }: FeedQuery): object[] {
  const place = after && toPlace(after);
  return [
    ...(since === undefined ? [] : [{ $gte: ['$$entry.relevancy', since] }]),
    ...(until === undefined ? [] : [{ $lt: ['$$entry.relevancy', until] }]),
    ...(place === undefined
      ? []
      : [
          {
            $or: [
              { $lt: ['$$entry.relevancy', place.relevancy] },
              {
                $and: [
                  { $eq: ['$$entry.relevancy', place.relevancy] },
                  { $lt: ['$$entry.actionId', place.actionId] },
                ],
              },
            ],
          },
        ]),
  ];
}

/**
 * Adds one entry to the documents of many readers: one query for readers that have a document, one statement for them, and
 * one that creates documents for the others. Returns readers who seem to have the entry already.
 */
async function putAlike(
  collection: Collection<FeedTopDocument>,
  cap: number,
  { actionId, group }: { readonly actionId: ObjectId; readonly group: readonly ReaderDelivery[] },
): Promise<ReaderDelivery[]> {
  const [first] = group;
  if (first === undefined) return [];
  const found = await collection
    .aggregate<{ readonly _id: UserId; readonly holds: boolean }>([
      { $match: { _id: { $in: group.map(({ userId }) => userId) } } },
      { $project: { holds: { $in: [actionId, '$entries.actionId'] } } },
    ])
    .toArray();
  const holds = new Map(found.map((document) => [document._id, document.holds]));
  const waiting = found.flatMap(({ _id, holds: isHeld }) => (isHeld ? [] : [_id]));
  const without = group.filter(({ userId }) => !holds.has(userId));
  if (waiting.length > 0) {
    const stages = putStages(actionId, first, cap);
    const absent = { $nor: [{ 'entries.actionId': actionId }] };
    const { matchedCount } = await collection.updateMany({ _id: { $in: waiting }, ...absent }, stages);
    // Another writer has just added it, perhaps with a lower relevancy: raise it. Both report it as added.
    if (matchedCount < waiting.length) await collection.updateMany({ _id: { $in: waiting } }, stages);
  }
  const lost = group.filter(({ userId }) => holds.get(userId) === true);
  if (without.length === 0) return lost;
  const version = new ObjectId();
  try {
    await collection.insertMany(
      without.map(({ userId, relevancy, reasons }) => ({
        ...{ _id: userId, version, floor: null },
        entries: [toEntryDocument({ actionId: actionId.toHexString(), relevancy, reasons })],
      })),
      { ordered: false },
    );
    return lost;
  } catch (error) {
    return [...lost, ...duplicatePositions(error).flatMap((position) => without[position] ?? [])];
  }
}

/**
 * Adds one entry in order, or raises it; evicts the last one if there is one too many, and raises the floor to it. One
 * atomic update. An entry that would not come above the floor changes nothing.
 */
function putStages(
  actionId: ObjectId,
  { relevancy, reasons }: Pick<ReaderDelivery, 'relevancy' | 'reasons'>,
  cap: number,
): Document[] {
  const others = {
    $filter: { input: '$entries', as: 'other', cond: { $ne: ['$$other.actionId', actionId] } },
  };
  const isSame = { $eq: ['$$other.actionId', actionId] };
  return [
    { $set: { entries: { $ifNull: ['$entries', []] }, floor: { $ifNull: ['$floor', null] } } },
    {
      $set: {
        version: new ObjectId(),
        entries: {
          $let: {
            vars: {
              held: { $arrayElemAt: [{ $filter: { input: '$entries', as: 'other', cond: isSame } }, 0] },
            },
            in: {
              $let: {
                vars: {
                  put: {
                    actionId,
                    relevancy: { $max: ['$$held.relevancy', relevancy] },
                    reasons: {
                      $concatArrays: [
                        { $ifNull: ['$$held.reasons', []] },
                        { $setDifference: [[...reasons], { $ifNull: ['$$held.reasons', []] }] },
                      ],
                    },
                  },
                },
                in: {
                  $cond: [
                    { $or: [{ $eq: ['$floor', null] }, comesBefore('$$put', '$floor')] },
                    {
                      $sortArray: {
                        input: { $concatArrays: [others, ['$$put']] },
                        sortBy: { relevancy: -1, actionId: -1 },
                      },
                    },
                    '$entries',
                  ],
                },
              },
            },
          },
        },
      },
    },
    {
      $set: {
        floor: {
          $cond: [
            { $gt: [{ $size: '$entries' }, cap] },
            {
              $let: {
                vars: { last: { $arrayElemAt: ['$entries', cap] } },
                in: { relevancy: '$$last.relevancy', actionId: '$$last.actionId' },
              },
            },
            '$floor',
          ],
        },
      },
    },
    { $set: { entries: { $slice: ['$entries', cap] } } },
  ];
}
