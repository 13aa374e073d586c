import { ObjectId, type Collection, type Document, type Filter } from 'mongodb';
import type { Action, ActionId, ActionRef, RefId, UserId } from '../../domain/action.ts';
import { userKey } from '../../domain/audience.ts';
import { clock } from '../../lib/clock.ts';
import { toAction } from './action-document.ts';
import { inTurns } from '../database/in-turns.ts';
import type { ActionDocument } from '../documents/documents.ts';
import { literal } from '../stages/literal.ts';

const BATCH = 500;
const REFS_AT_ONCE = 100;
/** Actions among which one is looked for that describes a ref: a bound for refs that have very many. */
const FIRST_ACTIONS = 100;

const VISIBLE = { isDeleted: false, isHidden: false } as const;
const VISIBLE_TO_FOLLOWERS: Filter<ActionDocument> = { ...VISIBLE, scope: { $in: ['FOLLOWERS', 'PUBLIC'] } };

function ofTypes(types: readonly string[] | null): Filter<ActionDocument> {
  return types === null ? {} : { 'descriptor.type': { $in: [...types] } };
}

/** Finds actions by their audience. Part of the repository of actions. */
export function actionsOfAudience(collection: Collection<ActionDocument>) {
  async function* batches(filter: Filter<ActionDocument>): AsyncGenerator<Action[], void, undefined> {
    const cursor = collection.find(filter).batchSize(BATCH);
    try {
      let batch: Action[] = [];
      for await (const document of cursor) {
        batch.push(toAction(document));
        if (batch.length === BATCH) {
          yield batch;
          batch = [];
        }
      }
      if (batch.length > 0) yield batch;
    } finally {
      await cursor.close();
    }
  }

  return {
    /**
     * Start of a span that contains the newest `count` (at least 1) actions of a ref; `null` when there are none. Counts the
     * actions that following the ref would bring. Index `recorded_by_ref`; with types it also reads actions of other types
     * in between.
     * @param types `null`: all types.
     */
    async nthNewest(
      refId: RefId,
      count: number,
      types: readonly string[] | null = null,
    ): Promise<{ recorded: Date; id: ActionId } | null> {
      for (let limit = count; ;) {
        const documents = await collection
          .find({ refIds: refId, ...VISIBLE_TO_FOLLOWERS, ...ofTypes(types) })
          .hint('recorded_by_ref')
          .sort({ recorded: -1, _id: -1 })
          .project<Pick<ActionDocument, '_id' | 'recorded' | 'expiresAt'>>({ recorded: 1, expiresAt: 1 })
          .limit(limit)
          .batchSize(limit)
          .toArray();
        // Not part of the query, since it would mislead the choice of index. Expired actions are deleted within a second.
        const now = clock.time();
        const current = documents.filter(
          ({ expiresAt }) => expiresAt === undefined || expiresAt.getTime() > now,
        );
        const last = current[count - 1] ?? (documents.length < limit ? current.at(-1) : undefined);
        if (last !== undefined) return { recorded: last.recorded, id: last._id.toHexString() };
        if (documents.length < limit) return null;
        limit = count + documents.length - current.length;
      }
    },

    /** The newest visible actions of a ref for followers, recorded at or after `since`. Index `recorded_by_ref`. */
    async newestOfRef(refId: RefId, since: Date, limit: number): Promise<Action[]> {
      const documents = await inTurns(
        collection
          .find({
            refIds: refId,
            recorded: { $gte: since },
            ...VISIBLE_TO_FOLLOWERS,
          })
          .sort({ recorded: -1, _id: -1 })
          .limit(limit),
      );
      return documents.map(toAction);
    },

    /**
     * Actions of any of the refs recorded at or after `since`, to be delivered for a span. Index `recorded_by_ref`.
     * @param types `null`: all types.
     */
    async recordedSince(
      refIds: readonly RefId[],
      since: Date,
      types: readonly string[] | null = null,
    ): Promise<Action[]> {
      const documents = await inTurns(
        collection.find({
          refIds: { $in: [...refIds] },
          recorded: { $gte: since },
          ...VISIBLE_TO_FOLLOWERS,
          ...ofTypes(types),
        }),
      );
      return documents.map(toAction);
    },

    /**
     * Refs as the first action names them that all followers may see, of the first hundred recorded with each id. So another
     * action does not change them, and an action that is hidden or deleted describes nothing. One round trip. Index
     * `recorded_by_ref`.
     */
    async firstNaming(refIds: readonly RefId[]): Promise<ActionRef[]> {
      const [first, ...others] = refIds.map((refId): Document[] => [
        { $match: { refIds: refId } },
        { $sort: { recorded: 1, _id: 1 } },
        { $limit: FIRST_ACTIONS },
        { $match: { 'refs.id': refId, ...VISIBLE_TO_FOLLOWERS, expiresAt: { $not: { $lte: clock.now() } } } },
        { $limit: 1 },
        { $project: { _id: 0, refs: 1, refId: literal(refId) } },
      ]);
      if (first === undefined) return [];
      const found = await collection
        .aggregate<{ readonly refs: readonly ActionRef[]; readonly refId: RefId }>(
          [
            ...first,
            ...others.map((pipeline) => ({ $unionWith: { coll: collection.collectionName, pipeline } })),
          ],
          { batchSize: refIds.length + 1 },
        )
        .toArray();
      return found.flatMap(({ refs, refId }) => refs.find(({ id }) => id === refId) ?? []);
    },

    /**
     * Actions for any of the audience keys recorded at or after `since`. Selects by the recording time in their ids, so only
     * the newest actions are examined.
     */
    async addressedSince(audience: readonly string[], since: Date): Promise<Action[]> {
      const youngest = ObjectId.createFromTime(Math.floor(since.getTime() / 1_000) - 1);
      const documents = await inTurns(
        collection.find({
          _id: { $gte: youngest },
          recorded: { $gte: since },
          audience: { $in: [...audience] },
          ...VISIBLE,
        }),
      );
      return documents.map(toAction);
    },

    /** The users among these whom actions name. Index `audience`. */
    async namedAmong(userIds: readonly UserId[]): Promise<UserId[]> {
      const keys = userIds.map(userKey);
      const documents = await collection
        .find({ audience: { $in: keys }, isDeleted: false })
        .project<{ mentions: string[]; recipients: string[] }>({ _id: 0, mentions: 1, recipients: 1 })
        .toArray();
      const named = new Set(documents.flatMap(({ mentions, recipients }) => [...mentions, ...recipients]));
      return userIds.filter((userId) => named.has(userId));
    },

    /**
     * All visible actions that may be addressed to a reader, in unordered batches, possibly with duplicates. Indexes
     * `audience` and `recorded_by_ref`.
     */
    async *candidatesFor(
      audience: readonly string[],
      refIds: readonly RefId[],
    ): AsyncGenerator<Action[], void, undefined> {
      yield* batches({ ...VISIBLE, audience: { $in: [...audience] } });
      for (let from = 0; from < refIds.length; from += REFS_AT_ONCE) {
        const some = refIds.slice(from, from + REFS_AT_ONCE);
        yield* batches({ ...VISIBLE_TO_FOLLOWERS, refIds: { $in: some } });
      }
    },
  };
}
