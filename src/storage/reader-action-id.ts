import { ObjectId } from 'mongodb';
import type { ActionId, UserId } from '../domain/action.ts';

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

export function readerActionId(userId: UserId, actionId: ActionId): ReaderActionId {
  return { userId, actionId: new ObjectId(actionId) };
}
