import type { ReaderActionId } from './reader-action-id.ts';

/** An action that a reader keeps for later. */
export interface BookmarkDocument {
  _id: ReaderActionId;
  at: Date;
}
