import { ObjectId, type Collection, type Filter, type Sort, type UpdateFilter } from 'mongodb';
import type { FeedEntry, FeedPosition } from '../../domain/newsfeed-item.ts';
import type { FeedEntryDocument, StoredEntryDocument } from '../../storage/documents/feed-documents.ts';
import type { FeedPageQuery, HoldersQuery, Placement, ReaderDelivery } from '../feed-store.ts';
import { index } from '../../storage/documents/declaration.ts';
import type { ActionId, UserId } from '../../domain/action.ts';
import { inOneBatch, upTo } from '../../storage/database/batches.ts';

export function toEntry({ actionId, relevancy, reasons }: FeedEntryDocument): FeedEntry {
  return { actionId: actionId.toHexString(), relevancy, reasons };
}

export function toEntryDocument({ actionId, relevancy, reasons }: FeedEntry): FeedEntryDocument {
  return { actionId: new ObjectId(actionId), relevancy, reasons: [...reasons] };
}

export function isBehind(stored: Placement, wanted: Placement): boolean {
  return (
    stored.relevancy.getTime() < wanted.relevancy.getTime() ||
    wanted.reasons.some((reason) => !stored.reasons.includes(reason))
  );
}

/** Groups readers with equal boosts, so that they share one write. */
export function byBoost(
  readers: readonly ReaderDelivery[],
): { readonly boost: Placement; readonly readers: readonly ReaderDelivery[] }[] {
  const groups = new Map<string, { boost: ReaderDelivery; readers: ReaderDelivery[] }>();
  for (const reader of readers) {
    const key = `${String(reader.relevancy.getTime())} ${reader.reasons.join(' ')}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { boost: reader, readers: [reader] });
    else group.readers.push(reader);
  }
  return [...groups.values()];
}

/** For a collection with one document per entry and the shard key `userId`. */
export const PAGE_INDEX = index(
  'page',
  { userId: 1, relevancy: -1, actionId: -1 },
  'feed page and unread count of a reader',
);

/** For models whose ids do not begin with the action. */
export const HOLDERS_INDEX = index(
  'holders',
  { actionId: 1, userId: 1 },
  'delivery: who holds an action; cascade: all entries of an action',
);

export const ENTRY_FIELDS = { _id: 0, actionId: 1, relevancy: 1, reasons: 1 } as const;

export const IN_FEED_ORDER = { relevancy: -1, actionId: -1 } as const;

/** The operations needed here, independent of the type of the documents' ids. */
interface EntryCollection extends Pick<
  Collection<StoredEntryDocument>,
  'find' | 'updateMany' | 'deleteMany'
> {
  bulkWrite(
    operations: readonly {
      readonly updateOne: {
        readonly filter: Filter<StoredEntryDocument>;
        readonly update: UpdateFilter<StoredEntryDocument>;
      };
    }[],
    options: { readonly ordered: false },
  ): Promise<{ readonly matchedCount: number }>;
}

/** How a model finds entries by their action. Filters name the readers, by whom the collection is sharded. */
export interface EntryKeys {
  /** Filter: the entries of these readers for these actions. */
  of(userIds: readonly UserId[], actionIds: readonly ActionId[]): Filter<StoredEntryDocument>;
  /** Filter and order: all entries of an action, of readers after this one. */
  holders(
    actionId: ActionId,
    after: UserId | null,
  ): { readonly filter: Filter<StoredEntryDocument>; readonly order: Sort };
}

/** By the fields of the entries. Index `holders`. */
export const BY_FIELDS: EntryKeys = {
  of: (userIds, actionIds) => ({
    actionId: oneOf(actionIds.map((id) => new ObjectId(id))),
    userId: oneOf(userIds),
  }),
  holders: (actionId, after) => ({
    filter: { actionId: new ObjectId(actionId), ...(after === null ? {} : { userId: { $gt: after } }) },
    order: { userId: 1 },
  }),
};

/** Shared by all models with one document per entry. */
export function storedEntries(collection: EntryCollection, keys: EntryKeys) {
  return {
    /** Those of the readers who have the action, with their entries. */
    async holders(actionId: ActionId, userIds: readonly UserId[]): Promise<ReaderDelivery[]> {
      return inOneBatch(
        collection.find(keys.of(userIds, [actionId])).project<ReaderDelivery>({
          _id: 0,
          userId: 1,
          relevancy: 1,
          reasons: 1,
        }),
        userIds.length,
      );
    },

    /**
     * Raises relevancy and adds reasons in one write, equal for all of these readers; never lowers. Returns the number
     * matched.
     */
    async raise(actionId: ActionId, userIds: readonly UserId[], entry: Placement): Promise<number> {
      const { matchedCount } = await collection.updateMany(keys.of(userIds, [actionId]), {
        $max: { relevancy: entry.relevancy },
        $addToSet: { reasons: { $each: [...entry.reasons] } },
      });
      return matchedCount;
    },

    /** The same for many actions of one reader, each with its own relevancy and reasons. */
    async raiseForReader(userId: UserId, entries: readonly FeedEntry[]): Promise<number> {
      if (entries.length === 0) return 0;
      const { matchedCount } = await collection.bulkWrite(
        entries.map(({ actionId, relevancy, reasons }) => ({
          updateOne: {
            filter: keys.of([userId], [actionId]),
            update: { $max: { relevancy }, $addToSet: { reasons: { $each: [...reasons] } } },
          },
        })),
        { ordered: false },
      );
      return matchedCount;
    },

    /** Index `page`. */
    async page(query: FeedPageQuery): Promise<FeedEntry[]> {
      const documents = await collection
        .find(pageFilter(query), upTo(query.limit))
        .sort(IN_FEED_ORDER)
        .project<FeedEntryDocument>(ENTRY_FIELDS)
        .toArray();
      return documents.map(toEntry);
    },

    async find(userId: UserId, actionIds: readonly ActionId[]): Promise<FeedEntry[]> {
      const documents = await collection
        .find(keys.of([userId], actionIds))
        .project<FeedEntryDocument>(ENTRY_FIELDS)
        .toArray();
      return documents.map(toEntry);
    },

    /** The next readers who have the action, ordered by id. */
    async someHolders(actionId: ActionId, { after = null, limit }: HoldersQuery): Promise<UserId[]> {
      const { filter, order } = keys.holders(actionId, after);
      const documents = await collection
        .find(filter, upTo(limit))
        .sort(order)
        .project<{ userId: UserId }>({ _id: 0, userId: 1 })
        .toArray();
      return documents.map((document) => document.userId);
    },

    async remove(userIds: readonly UserId[], actionIds: readonly ActionId[]): Promise<void> {
      await collection.deleteMany(keys.of(userIds, actionIds));
    },

    /** Index `page`. */
    async trim(userId: UserId, from: FeedPosition): Promise<void> {
      await collection.deleteMany({
        userId,
        relevancy: { $lte: from.relevancy },
        $or: [{ relevancy: { $lt: from.relevancy } }, { actionId: { $lte: new ObjectId(from.actionId) } }],
      });
    },

    async drop(userId: UserId): Promise<void> {
      await collection.deleteMany({ userId });
    },
  };
}

/** A filter for one value is planned better as such than as a list of one. */
export function oneOf<T>(values: readonly T[]): T | { $in: T[] } {
  const [first] = values;
  return values.length === 1 && first !== undefined ? first : { $in: [...values] };
}

/** Entries in a range of a reader's feed. Index `page`. */
export function pageFilter(query: FeedPageQuery): Filter<StoredEntryDocument> {
  const filter: Filter<StoredEntryDocument> = { userId: query.userId };
  const range: { $gte?: Date; $lt?: Date; $lte?: Date } = {};
  if (query.since !== undefined) range.$gte = query.since;
  if (query.until !== undefined) range.$lt = query.until;
  if (query.after !== undefined) {
    // The range is redundant with the tie-break condition, but lets the index be entered at the cursor.
    range.$lte = query.after.relevancy;
    filter.$or = [
      { relevancy: { $lt: query.after.relevancy } },
      { actionId: { $lt: new ObjectId(query.after.actionId) } },
    ];
  }
  if (Object.keys(range).length > 0) filter.relevancy = range;
  return filter;
}
