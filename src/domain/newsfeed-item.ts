import type { Action, ActionId, UserId } from './action.ts';
import type { ItemState, ListedState } from './item-states.ts';

/** When an item in a state that ends is due to come back. */
interface End {
  readonly state: ItemState;
  readonly until: Date;
  /** The end was recorded: treated as ended even where a clock runs slightly behind. */
  readonly isOver: boolean;
}

export interface ItemMark {
  readonly actionId: ActionId;
  /** `null`: the item is in the feed. */
  readonly state: ItemState | null;
  /** The end of a state that has one, also after it has ended, see `markAt`. `null`: there was none since the last other state. */
  readonly end: End | null;
  /** The relevancy at which the reader marked the item as read; `null`: never, or marked unread later. */
  readonly readAt: Date | null;
  /** Explicitly marked unread: overrides every other rule. */
  readonly isUnread: boolean;
}

export function hasEnded({ until, isOver }: End, now: Date): boolean {
  return isOver || until.getTime() <= now.getTime();
}

/** The mark as of a time: a state that has ended is none any more, and its end boosts the item. */
export function markAt(mark: ItemMark, now: Date): ItemMark {
  const { state, end } = mark;
  return state === null || end === null || !hasEnded(end, now) ? mark : { ...mark, state: null };
}

/** The relevancy that the end of a state boosts the item to; `null` when there is none. Expects a mark from `markAt`. */
export function boostOf(mark: ItemMark | null): Date | null {
  return mark?.state === null && mark.end !== null ? mark.end.until : null;
}

/** Relevancy of an item after an optional boost. */
export function lifted(relevancy: Date, to: Date | null | undefined): Date {
  return to != null && to.getTime() > relevancy.getTime() ? to : relevancy;
}

/** Above everything read so far and above where it was read itself, or explicitly marked unread. */
export function isUnreadItem(lastRead: Date | null, mark: ItemMark | null, relevancy: Date): boolean {
  if (mark?.isUnread === true) return true;
  const read = Math.max(lastRead?.getTime() ?? -Infinity, mark?.readAt?.getTime() ?? -Infinity);
  return relevancy.getTime() > read;
}

/** Stored as a bit mask in this order: append new reasons at the end. */
export const DELIVERY_REASONS = [
  'MENTION',
  'RECIPIENT',
  'TEAM',
  'DEPARTMENT',
  'FOLLOW',
  'PULL',
  'RESHARE',
] as const;
export type DeliveryReason = (typeof DELIVERY_REASONS)[number];

/** Sort key of a feed entry: relevancy, then action id, both descending. */
export interface FeedPosition {
  readonly relevancy: Date;
  readonly actionId: ActionId;
}

/** Sorts above every other position: a feed with this floor has no complete part. The last instant a Date can represent. */
export const FLOOR_ABOVE_ALL: FeedPosition = {
  relevancy: new Date(8_640_000_000_000_000),
  actionId: 'f'.repeat(24),
};

/** One entry of a reader's feed: a reference to an action and its relevancy for this reader. */
export interface FeedEntry extends FeedPosition {
  readonly reasons: readonly DeliveryReason[];
  /** Revision of the action when the entry was read. Absent: not requested, or the action has none. */
  readonly rev?: number;
  /** The score with which the host offers it in a view. The reader may see it: it need not be addressed to them. */
  readonly offered?: number;
}

/** A feed entry that passed the rules, together with its action. */
export interface NewsfeedItem extends FeedEntry {
  readonly userId: UserId;
  readonly action: Action;
  readonly isUnread: boolean;
  /** The state in whose list it is; `null`: it is in the feed. */
  readonly state: ListedState | null;
  /** When that state ends; `null`: it does not, or there is none. */
  readonly until: Date | null;
  /** Ids of the reader's lists that it is in. */
  readonly lists: readonly string[];
}

/** Feed order: negative when `a` comes before `b`. */
export function compareFeedPositions(a: FeedPosition, b: FeedPosition): number {
  const byRelevancy = b.relevancy.getTime() - a.relevancy.getTime();
  if (byRelevancy !== 0) return byRelevancy;
  return a.actionId < b.actionId ? 1 : a.actionId > b.actionId ? -1 : 0;
}
