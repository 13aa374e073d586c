import { type Collection, type Document, ObjectId } from 'mongodb';
import type { ActionId, UserId } from '../../domain/action.ts';
import { besideIn } from '../../domain/stored-id.ts';
import { duplicatePositions, retryOnDuplicateKey } from '../../storage/database/errors.ts';
import type { Collections } from '../../storage/database/mongo.ts';
import { upTo } from '../../storage/database/batches.ts';
import { index } from '../../storage/documents/declaration.ts';
import {
  readerActionId,
  type ReaderActionId,
  readerActions,
} from '../../storage/documents/reader-action-id.ts';
import { NO_STAMPS, type ReaderStamps } from '../../storage/stamps/reader-stamps.ts';
import { MAX_SHOWS_LESS } from '../../domain/viewer.ts';

declare module '../../storage/documents/declaration.ts' {
  interface Documents {
    readonly impressions: ImpressionsDocument;
  }
}

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly impressions: ReturnType<typeof impressionsRepository>;
    readonly showsLess: ReturnType<typeof showsLessRepository>;
  }
}

/** That a reader was shown an action. */
interface ImpressionsDocument {
  _id: ReaderActionId;
  /** When it was last shown. */
  at: Date;
  /** The latest, the oldest first: at most one for each view and hour. */
  shown?: { view: string; hour: number; at: Date; ms?: number }[];
}

export const IMPRESSIONS = readerActions('impressions', {
  holds: 'an action that a reader was shown, and when',
  indexes: [
    index('newest', { '_id.userId': 1, at: -1 }, 'what a reader was shown lately; erasure and export'),
    index('at', { at: 1 }, 'what was shown so long ago that it counts no more'),
  ],
  serves: 'what a reader was shown',
  entry: ({ at, shown = [] }) => ({ at, shown: shown.map(({ hour: _hour, ...one }) => one) }),
});

/** Of one reader and action; older ones count for little. */
const MAX_SHOWN = 50;
/** Actions of one reader. Concurrent calls may exceed it. */
export const MAX_SHOWN_ACTIONS = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** One time that a reader was shown an action. */
export interface Impression {
  readonly actionId: ActionId;
  /** The list in which it was shown; empty: the feed. */
  readonly view: string;
  /** How long, in milliseconds. */
  readonly ms: number | null;
}

/** How often an action was shown in a view. */
export interface ShownAction {
  readonly actionId: ActionId;
  readonly view: string | null;
  /** What the ids of its readers begin with. */
  readonly beside: string;
  readonly count: number;
}

const BATCH = 1_000;

/** What readers were shown. Key: `_id`, of reader and action. */
function impressionsRepository(collection: Collection<ImpressionsDocument>) {
  /** Writes those that are not recorded yet for their hour. Returns those that are, or may be. */
  async function add(
    userId: UserId,
    impressions: readonly Impression[],
    at: Date,
  ): Promise<readonly Impression[]> {
    const hour = Math.floor(at.getTime() / HOUR_MS);
    const operations = impressions.map(({ actionId, view, ms }) => ({
      updateOne: {
        filter: { _id: readerActionId(userId, actionId), shown: { $not: { $elemMatch: { view, hour } } } },
        update: {
          $max: { at },
          $push: {
            shown: { $each: [{ view, hour, at, ...(ms === null ? {} : { ms }) }], $slice: -MAX_SHOWN },
          },
        },
        // One that is recorded has the key already.
        upsert: true,
      },
    }));
    try {
      await collection.bulkWrite(operations, { ordered: false });
      return [];
    } catch (error) {
      return duplicatePositions(error).flatMap((place) => impressions[place] ?? []);
    }
  }

  return {
    /**
     * Returns those that were not recorded yet, at most one for each action, view and hour; none of a reader who has too many. Index
     * `newest`.
     */
    async record(
      userId: UserId,
      impressions: readonly Impression[],
      at: Date,
    ): Promise<readonly Impression[]> {
      const count = await collection.countDocuments({ '_id.userId': userId }, { limit: MAX_SHOWN_ACTIONS });
      if (count === MAX_SHOWN_ACTIONS) return [];
      const refused = await add(userId, impressions, at);
      // Two may have been the first of an action at once: the second is added to what the first has made.
      const known = refused.length === 0 ? [] : await add(userId, refused, at);
      return impressions.filter((one) => !known.includes(one));
    },

    /** How often a reader was shown actions before a time, each half of it a day later, of the last that they were shown. Index `newest`. */
    async before(userId: UserId, time: Date, limit: number): Promise<ReadonlyMap<ActionId, number>> {
      const documents = await collection
        .find(
          { '_id.userId': userId },
          { projection: { _id: 1, 'shown.at': 1 }, sort: { at: -1 }, ...upTo(limit) },
        )
        .toArray();
      return new Map(
        documents.map(({ _id, shown = [] }) => [_id.actionId.toHexString(), weightOf(shown, time.getTime())]),
      );
    },

    /** How often actions were shown from a time on until another, by view. Index `at`. */
    async *shownWithin(from: Date, to: Date): AsyncGenerator<readonly ShownAction[], void, undefined> {
      const within = { $gte: from, $lt: to };
      const cursor = collection
        .aggregate<{
          _id: { actionId: ObjectId; view: string; beside: string };
          count: number;
        }>([
          { $match: { at: { $gte: from } } },
          { $unwind: '$shown' },
          { $match: { 'shown.at': within } },
          {
            $group: {
              _id: { actionId: '$_id.actionId', view: '$shown.view', beside: besideIn('$_id.userId') },
              count: { $sum: 1 },
            },
          },
        ])
        .batchSize(BATCH);
      try {
        while (await cursor.hasNext())
          yield cursor.readBufferedDocuments().map(({ _id, count }) => ({
            actionId: _id.actionId.toHexString(),
            view: _id.view === '' ? null : _id.view,
            beside: _id.beside,
            count,
          }));
      } finally {
        await cursor.close();
      }
    },

    /** Deletes what was last shown before. Index `at`. */
    async purgeBefore(time: Date): Promise<void> {
      await collection.deleteMany({ at: { $lt: time } });
    },
  };
}

function weightOf(shown: readonly { readonly at: Date }[], time: number): number {
  return shown.reduce((sum, { at }) => {
    const age = time - at.getTime();
    return age <= 0 ? sum : sum + 0.5 ** (age / DAY_MS);
  }, 0);
}

/** What readers want less of, in each reader's document. */
function showsLessRepository({ feeds }: Pick<Collections, 'feeds'>, stamps: ReaderStamps = NO_STAMPS) {
  return {
    /** The newest are kept. */
    async add(userId: UserId, actionId: ActionId, until: Date): Promise<void> {
      const id = new ObjectId(actionId);
      const others: Document = {
        $filter: { input: { $ifNull: ['$showsLess', []] }, cond: { $ne: ['$$this.actionId', id] } },
      };
      const showsLess = { $slice: [{ $concatArrays: [[{ actionId: id, until }], others] }, MAX_SHOWS_LESS] };
      await retryOnDuplicateKey(() =>
        feeds.updateOne({ _id: userId }, [{ $set: { showsLess } }], { upsert: true }),
      );
      await stamps.renew([userId]);
    },

    async remove(userId: UserId, actionId: ActionId): Promise<void> {
      await feeds.updateOne({ _id: userId }, { $pull: { showsLess: { actionId: new ObjectId(actionId) } } });
      await stamps.renew([userId]);
    },
  };
}

export function ofImpressions(
  collections: Pick<Collections, 'impressions' | 'feeds'>,
  stamps?: ReaderStamps,
) {
  return {
    impressions: impressionsRepository(collections.impressions),
    showsLess: showsLessRepository(collections, stamps),
  };
}
