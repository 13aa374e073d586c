import { ObjectId, type Collection, type Filter } from 'mongodb';
import type { ActionId, UserId } from '../domain/action.ts';
import type { FeedEntry, FeedPosition } from '../domain/newsfeed-item.ts';
import type { NewsfeedItemDocument } from './documents.ts';
import { duplicatePositions } from './errors.ts';

export interface NewEntry extends Omit<FeedEntry, 'actionId'> {
  readonly userId: UserId;
}

function toEntry(document: Pick<NewsfeedItemDocument, 'actionId' | 'relevancy' | 'reasons'>): FeedEntry {
  return {
    actionId: document.actionId.toHexString(),
    relevancy: document.relevancy,
    reasons: document.reasons,
  };
}

function newDocument(
  userId: UserId,
  actionId: ObjectId,
  entry: Pick<FeedEntry, 'relevancy' | 'reasons'>,
): NewsfeedItemDocument {
  return { _id: new ObjectId(), userId, actionId, relevancy: entry.relevancy, reasons: [...entry.reasons] };
}

const ENTRY_FIELDS = { _id: 0, actionId: 1, relevancy: 1, reasons: 1 } as const;

/** One document per reader and action. Unique key: actionId, userId. */
export function newsfeedItemsRepository(collection: Collection<NewsfeedItemDocument>) {
  async function insertNew<T>(
    entries: readonly T[],
    toDocument: (entry: T) => NewsfeedItemDocument,
  ): Promise<T[]> {
    if (entries.length === 0) return [];
    try {
      await collection.insertMany(entries.map(toDocument), { ordered: false });
      return [];
    } catch (error) {
      return duplicatePositions(error).flatMap((position) => entries[position] ?? []);
    }
  }

  return {
    /** Inserts what is not there, in one unordered write. Returns those entries that were there already. */
    async insert(actionId: ActionId, entries: readonly NewEntry[]): Promise<NewEntry[]> {
      const id = new ObjectId(actionId);
      return insertNew(entries, (entry) => newDocument(entry.userId, id, entry));
    },

    /** The same for many actions of one reader. */
    async insertForReader(userId: UserId, entries: readonly FeedEntry[]): Promise<FeedEntry[]> {
      return insertNew(entries, (entry) => newDocument(userId, new ObjectId(entry.actionId), entry));
    },

    /** Those of the readers who hold the action, with their entries. Index `delivery`. */
    async holders(
      actionId: ActionId,
      userIds: readonly UserId[],
    ): Promise<Pick<NewsfeedItemDocument, 'userId' | 'relevancy' | 'reasons'>[]> {
      return collection
        .find({ actionId: new ObjectId(actionId), userId: { $in: [...userIds] } })
        .project<Pick<NewsfeedItemDocument, 'userId' | 'relevancy' | 'reasons'>>({
          _id: 0,
          userId: 1,
          relevancy: 1,
          reasons: 1,
        })
        .batchSize(userIds.length + 1)
        .toArray();
    },

    /** Raises relevancy and widens reasons, the same for all these readers, in one write. Never lowers. */
    async raise(
      actionId: ActionId,
      userIds: readonly UserId[],
      entry: Pick<FeedEntry, 'relevancy' | 'reasons'>,
    ): Promise<void> {
      await collection.updateMany(
        { actionId: new ObjectId(actionId), userId: { $in: [...userIds] } },
        { $max: { relevancy: entry.relevancy }, $addToSet: { reasons: { $each: [...entry.reasons] } } },
      );
    },

    /** The same for many actions of one reader, each with its own relevancy and reasons. */
    async raiseForReader(userId: UserId, entries: readonly FeedEntry[]): Promise<void> {
      if (entries.length === 0) return;
      await collection.bulkWrite(
        entries.map(({ actionId, relevancy, reasons }) => ({
          updateOne: {
            filter: { actionId: new ObjectId(actionId), userId },
            update: { $max: { relevancy }, $addToSet: { reasons: { $each: [...reasons] } } },
          },
        })),
        { ordered: false },
      );
    },

    /** Index `page`. */
    async page(query: {
      readonly userId: UserId;
      readonly after?: FeedPosition;
      readonly since?: Date;
      readonly until?: Date;
      readonly limit: number;
    }): Promise<FeedEntry[]> {
      const filter: Filter<NewsfeedItemDocument> = { userId: query.userId };
      const range: { $gte?: Date; $lt?: Date; $lte?: Date } = {};
      if (query.since !== undefined) range.$gte = query.since;
      if (query.until !== undefined) range.$lt = query.until;
      if (query.after !== undefined) {
        // The range beside the tie-break is what lets the index be entered at the cursor.
        range.$lte = query.after.relevancy;
        filter.$or = [
          { relevancy: { $lt: query.after.relevancy } },
          { actionId: { $lt: new ObjectId(query.after.actionId) } },
        ];
      }
      if (Object.keys(range).length > 0) filter.relevancy = range;
      const documents = await collection
        .find(filter)
        .sort({ relevancy: -1, actionId: -1 })
        .project<Pick<NewsfeedItemDocument, 'actionId' | 'relevancy' | 'reasons'>>(ENTRY_FIELDS)
        .limit(query.limit)
        .batchSize(query.limit)
        .toArray();
      return documents.map(toEntry);
    },

    async find(userId: UserId, actionIds: readonly ActionId[]): Promise<FeedEntry[]> {
      const documents = await collection
        .find({ actionId: { $in: actionIds.map((id) => new ObjectId(id)) }, userId })
        .project<Pick<NewsfeedItemDocument, 'actionId' | 'relevancy' | 'reasons'>>(ENTRY_FIELDS)
        .toArray();
      return documents.map(toEntry);
    },

    /** The first readers who hold the action, in order of id. Index `delivery`. */
    async someHolders(actionId: ActionId, limit: number): Promise<UserId[]> {
      const documents = await collection
        .find({ actionId: new ObjectId(actionId) })
        .sort({ userId: 1 })
        .project<{ userId: UserId }>({ _id: 0, userId: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      return documents.map((document) => document.userId);
    },

    /** Index `delivery`. */
    async remove(userIds: readonly UserId[], actionIds: readonly ActionId[]): Promise<void> {
      await collection.deleteMany({
        actionId: { $in: actionIds.map((id) => new ObjectId(id)) },
        userId: { $in: [...userIds] },
      });
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

export type NewsfeedItemsRepository = ReturnType<typeof newsfeedItemsRepository>;
