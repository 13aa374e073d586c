import { ObjectId, type Collection, type Document } from 'mongodb';
import type { ActionId, UserId } from '../../domain/action.ts';
import { gathered } from '../../lib/gathered.ts';
import { mayBeOfOne } from '../database/errors.ts';
import { groupsOf } from '../../lib/groups-of.ts';
import { inOneBatch, insertMissing, unionOf, upTo } from '../database/batches.ts';
import { literal } from '../stages/revision.ts';
import {
  index,
  type Declaration,
  type Declared,
  type Documents,
  type Index,
  type MarkedReader,
} from './declaration.ts';
import { beyond, type Stretch, turned } from './keyset.ts';

/** Key of a document of one reader and one action. Field order matters: the database compares it as a whole. */
export interface ReaderActionId {
  userId: string;
  actionId: ObjectId;
}

/** The same outside of the database. */
export interface ReaderAction {
  readonly userId: UserId;
  readonly actionId: ActionId;
}

/**
 * Filter for documents of these readers and actions. Names the readers separately, since they are the shard key and a list
 * of whole ids does not tell the router. Index `_id_`.
 */
export function ofReaderActions(pairs: readonly ReaderAction[]): {
  readonly _id: { readonly $in: ReaderActionId[] };
  readonly '_id.userId': { readonly $in: UserId[] };
} {
  return {
    _id: { $in: pairs.map(({ userId, actionId }) => readerActionId(userId, actionId)) },
    '_id.userId': { $in: [...new Set(pairs.map(({ userId }) => userId))] },
  };
}

export function readerActionId(userId: UserId, actionId: ActionId): ReaderActionId {
  return { userId, actionId: new ObjectId(actionId) };
}

type OfReaderAction = {
  [Name in keyof Documents]: Documents[Name] extends { _id: ReaderActionId } ? Name : never;
}[keyof Documents];

/** A collection of what readers said about actions, one document for each reader and action. */
export function readerActions<Name extends OfReaderAction>(
  name: Name,
  options: {
    readonly holds: string;
    readonly indexes: readonly Index[];
    /** Reads of a reader's documents. */
    readonly serves: string;
    /** Fields of an export beside the action. */
    readonly entry: (document: Documents[Name]) => object;
    readonly marks?: (document: Documents[Name]) => MarkedReader;
  },
): Declared<Name> {
  const { holds, indexes, serves, entry, marks } = options;
  const declared: Declaration<Documents[OfReaderAction]> = {
    ...{ name, holds, ids: { member: ['_id.userId'] } },
    indexes: [...indexes, index('action', { '_id.actionId': 1 }, 'purge of an action')],
    shard: { key: { '_id.userId': 1 }, serves },
    erase: 'delete',
    export: [
      {
        section: name,
        of: '_id.userId',
        entry: (document) => ({
          actionId: document._id.actionId.toHexString(),
          ...entry(document as Documents[Name]),
        }),
      },
    ],
    action: {
      id: '_id.actionId',
      purge: 'delete',
      erased: (document, { memberId }) => (document._id.userId === memberId ? null : document),
      ...(marks === undefined ? {} : { marks: (document) => marks(document as Documents[Name]) }),
    },
  };
  return declared as unknown as Declared<Name>;
}

/** A position in a reader's list: an action, and when it was added. */
export interface ReaderListEntry {
  readonly actionId: ActionId;
  readonly at: Date;
}

const NEWEST_FIRST = { at: -1, '_id.actionId': -1 } as const;

/** Newest first: the conditions for a stretch of a reader's list, and its order. */
export function newest({ from, isUp }: Stretch<ReaderListEntry>): {
  readonly conditions: Document;
  readonly order: Record<string, 1 | -1>;
} {
  const order = turned(NEWEST_FIRST, isUp);
  const place = from && { at: from.at, '_id.actionId': new ObjectId(from.actionId) };
  return { conditions: beyond(order, place), order };
}

/** The index of a list of a reader's actions. */
export const newestIndex = (serves: string): Index =>
  index('newest', { '_id.userId': 1, at: -1, '_id.actionId': -1 }, serves);

/** Calls that add, or count, together. */
const CALLS_AT_ONCE = 50;

/**
 * A collection that is a list of actions for each reader. Indexes `newest`, and `_id_` where actions are named. To add and to
 * count take one command for calls at the same time.
 */
export function readerActionList(collection: Collection<{ _id: ReaderActionId; at: Date }>) {
  /** Returns those that were there. */
  const insert = gathered(
    (entries: readonly { _id: ReaderActionId; at: Date }[]) =>
      insertMissing(collection, entries, ({ _id }) => `${_id.userId} ${_id.actionId.toHexString()}`),
    { most: CALLS_AT_ONCE },
  );

  const counts = gathered(
    async (asked: readonly { readonly userId: UserId; readonly limit: number }[]) => {
      const groups = groupsOf(asked, ({ userId }) => userId);
      const pipelines = Array.from(groups, ([userId, alike]) => [
        { $match: { '_id.userId': userId } },
        { $limit: Math.max(...alike.map(({ limit }) => limit)) },
        { $group: { _id: literal(userId), count: { $sum: 1 } } },
      ]);
      const found = await inOneBatch(
        collection.aggregate<{ readonly _id: UserId; readonly count: number }>(
          unionOf(collection, pipelines),
        ),
        groups.size,
      );
      return new Map(found.map(({ _id, count }) => [_id, count]));
    },
    { most: CALLS_AT_ONCE, mayBeOfOne },
  );

  return {
    /** Keeps an existing entry. Returns whether there was none. */
    async add(userId: UserId, actionId: ActionId, at: Date): Promise<boolean> {
      const entry = { _id: readerActionId(userId, actionId), at };
      return !(await insert(entry)).has(entry);
    },

    /** Returns whether there was one. */
    async remove(userId: UserId, actionId: ActionId): Promise<boolean> {
      return (await collection.deleteOne({ _id: readerActionId(userId, actionId) })).deletedCount > 0;
    },

    /** Number of the reader's entries, counted up to a limit. */
    async count(userId: UserId, limit: number): Promise<number> {
      return Math.min((await counts({ userId, limit })).get(userId) ?? 0, limit);
    },

    /** Entries of these readers among these actions. */
    async findPairs(pairs: readonly ReaderAction[]): Promise<ReaderAction[]> {
      const documents = await inOneBatch(collection.find(ofReaderActions(pairs)).hint('_id_'), pairs.length);
      return documents.map(({ _id }) => ({ userId: _id.userId, actionId: _id.actionId.toHexString() }));
    },

    /** Newest first. */
    async list(userId: UserId, stretch: Stretch<ReaderListEntry>): Promise<ReaderListEntry[]> {
      const { conditions, order } = newest(stretch);
      const documents = await collection
        .find({ '_id.userId': userId, ...conditions }, upTo(stretch.limit))
        .sort(order)
        .toArray();
      return documents.map(({ _id, at }) => ({ actionId: _id.actionId.toHexString(), at }));
    },
  };
}
