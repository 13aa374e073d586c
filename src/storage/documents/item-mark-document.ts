import type { ItemMark } from '../../domain/newsfeed-item.ts';
import type { ReaderAction } from './reader-action-id.ts';
import type { ItemMarkDocument } from './reader-documents.ts';

/** A reader's mark on an item. */
export function toMark({
  _id,
  state,
  until,
  isOver,
  readAt,
  isUnread,
}: ItemMarkDocument): ItemMark & ReaderAction {
  return {
    userId: _id.userId,
    actionId: _id.actionId.toHexString(),
    state: state ?? null,
    end: state === undefined || until === undefined ? null : { state, until, isOver: isOver ?? false },
    readAt: readAt ?? null,
    isUnread: isUnread ?? false,
  };
}
