import { ObjectId } from 'mongodb';
import type { ActionId, UserId } from '../../domain/action.ts';
import {
  index,
  type Declaration,
  type Declared,
  type Documents,
  type Index,
  type MarkedReader,
} from './declaration.ts';

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
    /** What a reader's documents are read for. */
    readonly serves: string;
    /** What an export says beside the action. */
    readonly entry: (document: Documents[Name]) => object;
    readonly marks?: (document: Documents[Name]) => MarkedReader;
  },
): Declared<Name> {
  const { holds, indexes, serves, entry, marks } = options;
  const declared: Declaration<Documents[OfReaderAction]> = {
    ...{ name, holds, ids: { member: ['_id.userId'] } },
    indexes: [...indexes, index('action', { '_id.actionId': 1 }, 'purge of an action')],
    shard: { key: { '_id.userId': 1 }, serves },
    tenant: { by: ['_id.userId'] },
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
