import type { ReaderDelivery, FeedStore } from '../../feed-store.ts';
import type { NewsfeedItemsRepository } from './repository.ts';
import { byBoost } from '../shared/by-boost.ts';
import { isBehind } from '../shared/put-in-rounds.ts';

/**
 * One document per reader and action. The model for most sites: entries of any reader can be raised and removed
 * individually, nothing is evicted, and the cost of a delivery does not depend on the length of the feed.
 *
 * Cost: a page is one query; a delivery to a new reader is one insert in a bulk write; a bump is one `updateMany` per
 * distinct relevancy and set of reasons, plus one query for readers in small groups and in groups where some readers lack
 * the action.
 */
export function itemsFeedStore(items: NewsfeedItemsRepository, open: FeedStore['open'] | null): FeedStore {
  return {
    model: 'items',
    ...(open == null ? {} : { open }),
    async deliver({ actionId, readers: all, isFirstAttempt, isRaise = false }) {
      const readers = isRaise ? await withoutRaised(actionId, all) : all;
      const stored = isFirstAttempt ? NONE : await holdersOf(actionId, readers);
      const missing = readers.filter((reader) => !stored.has(reader.userId));
      // Another writer may have inserted these meanwhile: look them up.
      const overtaken = await items.insert(actionId, missing);
      const late = new Set(overtaken.map((entry) => entry.userId));
      const behind = [
        ...readers.filter((reader) => isStoredBehind(stored, reader)),
        ...(await overtakenBehind(actionId, overtaken)),
      ];
      return {
        added: missing.filter((reader) => !late.has(reader.userId)).map((reader) => reader.userId),
        raised: await raise(actionId, behind),
      };
    },
    async fill(userId, entries) {
      if (entries.length === 0) return [];
      const found = await items.find(
        userId,
        entries.map((entry) => entry.actionId),
      );
      const stored = new Map(found.map((entry) => [entry.actionId, entry]));
      const missing = entries.filter((entry) => !stored.has(entry.actionId));
      const overtaken = await items.insertForReader(userId, missing);
      const behind = entries.filter((entry) => {
        const holder = stored.get(entry.actionId);
        return holder !== undefined && isBehind(holder, entry);
      });
      await items.raiseForReader(userId, [...behind, ...overtaken]);
      const late = new Set(overtaken.map((entry) => entry.actionId));
      return missing.filter((entry) => !late.has(entry.actionId)).map((entry) => entry.actionId);
    },
    page: async (query) => ({ entries: await items.page(query), floor: null }),
    find: (userId, actionIds) => items.find(userId, actionIds),
    held: (actionId, userIds) => items.holders(actionId, userIds),
    holders: (actionId, query) => items.someHolders(actionId, query),
    remove: (userIds, actionIds) => items.remove(userIds, actionIds),
    trim: (userId, from) => items.trim(userId, from),
    drop: (userId) => items.drop(userId),
  };

  /**
   * Raises large groups of readers without reading their entries first. Returns the readers for whom the entries must be
   * read: small groups, so that an action with many different positions does not need a write for each, and groups in which
   * a reader lacks the action.
   */
  async function withoutRaised(
    actionId: string,
    readers: readonly ReaderDelivery[],
  ): Promise<readonly ReaderDelivery[]> {
    const left: ReaderDelivery[] = [];
    for (const { boost, readers: group } of byBoost(readers)) {
      const userIds = group.map((reader) => reader.userId);
      const isLarge = group.length * LARGE_SHARE >= readers.length;
      const count = isLarge ? await items.raise(actionId, userIds, boost) : 0;
      if (count < group.length) left.push(...group);
    }
    return left;
  }

  async function holdersOf(actionId: string, readers: readonly ReaderDelivery[]): Promise<Holders> {
    if (readers.length === 0) return NONE;
    const userIds = readers.map((reader) => reader.userId);
    const holders = await items.holders(actionId, userIds);
    return new Map(holders.map((holder) => [holder.userId, holder]));
  }

  async function overtakenBehind(
    actionId: string,
    overtaken: readonly ReaderDelivery[],
  ): Promise<readonly ReaderDelivery[]> {
    const stored = await holdersOf(actionId, overtaken);
    return overtaken.filter((reader) => isStoredBehind(stored, reader));
  }

  async function raise(actionId: string, readers: readonly ReaderDelivery[]): Promise<string[]> {
    for (const { boost, readers: group } of byBoost(readers))
      await items.raise(
        actionId,
        group.map((reader) => reader.userId),
        boost,
      );
    return readers.map((reader) => reader.userId);
  }
}

type Holders = ReadonlyMap<string, Pick<ReaderDelivery, 'relevancy' | 'reasons'>>;
/** A group is large if it has at least one in so many of the chunk's readers. */
const LARGE_SHARE = 4;
const NONE: Holders = new Map();

/** Whether the stored entry has a lower relevancy or fewer reasons than wanted. */
function isStoredBehind(stored: Holders, reader: ReaderDelivery): boolean {
  const holder = stored.get(reader.userId);
  return holder !== undefined && isBehind(holder, reader);
}
