import { ObjectId } from 'mongodb';
import type { ActionId, UserId } from '../../domain/action.ts';

/** The key of what belongs to one reader and one action. The order of its fields counts: the database compares it whole. */
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
 * A filter of what belongs to these readers and actions. It names the readers, too, by whom such collections are sharded: a
 * list of whole ids does not tell. To be read by the index `_id_`.
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
