import type { ReaderDelivery, FeedStore } from '../feed-store.ts';
import type { NewsfeedItemsRepository } from '../../storage/newsfeed-items.ts';
import { byLift } from './by-lift.ts';
import { isBehind } from './put-in-rounds.ts';

/**
 * One document per reader and action. The model for most sites: entries of any reader can be raised and removed one
 * by one, nothing is ever cut off, and the cost of a delivery does not depend on the length of the feed.
 *
 * Cost: a page is one query; a delivery to a new reader one insert in a bulk; a bump one `updateMany` per distinct
 * relevancy and set of reasons.
 */
export function itemsFeedStore(items: NewsfeedItemsRepository): FeedStore {
  return {
    model: 'items',
    async deliver({ actionId, readers, isFirstAttempt }) {
      if (isFirstAttempt) {
        const there = await items.insert(actionId, readers);
        const known = new Set(there.map((entry) => entry.userId));
        return {
          added: readers.filter((reader) => !known.has(reader.userId)).map((reader) => reader.userId),
          raised: known.size === 0 ? [] : await raise(actionId, there),
        };
      }
      const holders = await items.holders(
        actionId,
        readers.map((reader) => reader.userId),
      );
      const held = new Map(holders.map((holder) => [holder.userId, holder]));
      const missing = readers.filter((reader) => !held.has(reader.userId));
      // Somebody else may have inserted in between: those are raised like the rest.
      const overtaken = await items.insert(actionId, missing);
      const late = new Set(overtaken.map((entry) => entry.userId));
      const behind = readers.filter((reader) => {
        const holder = held.get(reader.userId);
        return holder !== undefined && isBehind(holder, reader);
      });
      return {
        added: missing.filter((reader) => !late.has(reader.userId)).map((reader) => reader.userId),
        raised: await raise(actionId, [...behind, ...overtaken]),
      };
    },
    async fill(userId, entries) {
      const found = await items.find(
        userId,
        entries.map((entry) => entry.actionId),
      );
      const held = new Map(found.map((entry) => [entry.actionId, entry]));
      const missing = entries.filter((entry) => !held.has(entry.actionId));
      const overtaken = await items.insertForReader(userId, missing);
      const behind = entries.filter((entry) => {
        const holder = held.get(entry.actionId);
        return holder !== undefined && isBehind(holder, entry);
      });
      await items.raiseForReader(userId, [...behind, ...overtaken]);
      const late = new Set(overtaken.map((entry) => entry.actionId));
      return missing.filter((entry) => !late.has(entry.actionId)).map((entry) => entry.actionId);
    },
    page: async (query) => ({ entries: await items.page(query), floor: null }),
    find: (userId, actionIds) => items.find(userId, actionIds),
    holders: (actionId, limit) => items.someHolders(actionId, limit),
    remove: (userIds, actionIds) => items.remove(userIds, actionIds),
    trim: (userId, from) => items.trim(userId, from),
    drop: (userId) => items.drop(userId),
  };

  async function raise(actionId: string, readers: readonly ReaderDelivery[]): Promise<string[]> {
    for (const { lift, readers: group } of byLift(readers))
      await items.raise(
        actionId,
        group.map((reader) => reader.userId),
        lift,
      );
    return readers.map((reader) => reader.userId);
  }
}
