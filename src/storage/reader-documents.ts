import type { ItemState } from '../domain/item-mark.ts';
import type { ReaderActionId } from './reader-action-id.ts';

/** An action that a reader keeps for later. */
export interface BookmarkDocument {
  _id: ReaderActionId;
  at: Date;
}

/** What a reader said of one item. */
export interface ItemMarkDocument {
  _id: ReaderActionId;
  /** Absent: it is in the feed. */
  state?: ItemState;
  /** When the state was set. */
  at?: Date;
  /** While the state is SNOOZED: its end, also when that has passed. */
  until?: Date;
  /** The end has been recorded. */
  isOver?: true;
  /** When watchers are to be notified of the end; absent: they have been. */
  due?: Date;
  /** Who is about to notify them. */
  claim?: string;
  readAt?: Date;
  isUnread?: true;
}
