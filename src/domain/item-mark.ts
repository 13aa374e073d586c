import type { ActionId } from './action.ts';

/** What keeps an item out of its reader's feed. Setting one replaces the other. */
export const ITEM_STATES = ['HIDDEN', 'ARCHIVED'] as const;
export type ItemState = (typeof ITEM_STATES)[number];

/** What a reader said of one item. */
export interface ItemMark {
  readonly actionId: ActionId;
  /** Null: it is in the feed. */
  readonly state: ItemState | null;
  /** When the reader marked it as read; null: never, or marked unread since. */
  readonly readAt: Date | null;
  /** Unread whatever else says. */
  readonly isUnread: boolean;
}

/** Above everything the reader has read, and above when they marked it as read; or marked as unread. */
export function isUnreadItem(
  lastRead: Date | null,
  mark: Pick<ItemMark, 'readAt' | 'isUnread'> | null,
  relevancy: Date,
): boolean {
  if (mark?.isUnread === true) return true;
  const read = Math.max(lastRead?.getTime() ?? -Infinity, mark?.readAt?.getTime() ?? -Infinity);
  return relevancy.getTime() > read;
}
