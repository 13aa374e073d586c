import type { ActionId } from './action.ts';

/** What keeps an item out of its reader's feed. Setting one replaces the other. */
export const ITEM_STATES = ['HIDDEN', 'ARCHIVED', 'SNOOZED'] as const;
export type ItemState = (typeof ITEM_STATES)[number];

/** Those that hold until another one replaces them, or the reader undoes them. */
export type LastingState = Exclude<ItemState, 'SNOOZED'>;

/** That an item is to come back at a time. */
export interface Snooze {
  readonly until: Date;
  /** Its end was recorded: it counts as ended also where a clock is a little behind. */
  readonly isOver: boolean;
}

/** What a reader said of one item. */
export interface ItemMark {
  readonly actionId: ActionId;
  /** Null: it is in the feed. */
  readonly state: ItemState | null;
  /** While the state is SNOOZED, and after it has ended: see `markAt`. Null: not snoozed since it had another state. */
  readonly snooze: Snooze | null;
  /** When the reader marked it as read; null: never, or marked unread since. */
  readonly readAt: Date | null;
  /** Unread whatever else says. */
  readonly isUnread: boolean;
}

export function hasEnded({ until, isOver }: Snooze, now: Date): boolean {
  return isOver || until.getTime() <= now.getTime();
}

/** The mark as it is at a time: a snooze that has ended is no state, and lifts the item. */
export function markAt(mark: ItemMark, now: Date): ItemMark {
  if (mark.state !== 'SNOOZED' || mark.snooze === null || !hasEnded(mark.snooze, now)) return mark;
  return { ...mark, state: null };
}

/** How high an ended snooze lifts the item, of a mark as it is now; null: there is none. */
export function boostOf(mark: Pick<ItemMark, 'state' | 'snooze'> | null): Date | null {
  return mark?.state === null && mark.snooze !== null ? mark.snooze.until : null;
}

/** Where an item stands that is lifted, or not. */
export function lifted(relevancy: Date, to: Date | null | undefined): Date {
  return to != null && to.getTime() > relevancy.getTime() ? to : relevancy;
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
