import { ObjectId } from 'mongodb';
import type { ActionId, UserId } from '../../domain/action.ts';

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
