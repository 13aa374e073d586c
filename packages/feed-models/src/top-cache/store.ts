import { feedCollection, index } from '../../../../src/storage/documents/declaration.ts';
import {
  eachChunk,
  type FeedModel,
  type FeedStore,
  type FillOptions,
  higher,
} from '../../../../src/feed/feed-store.ts';
import { feedTopsRepository, type FeedTop, type FeedTopsRepository } from './repository.ts';
import type { UserId } from '../../../../src/domain/action.ts';
import {
  compareFeedPositions,
  type FeedEntry,
  type FeedPosition,
} from '../../../../src/domain/newsfeed-item.ts';
import { deliverInRounds, unite } from '../shared.ts';
import { isBehind } from '../../../../src/feed/models/stored-entries.ts';

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
    throw new Error('Filling a feed met other writers again and again');
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
