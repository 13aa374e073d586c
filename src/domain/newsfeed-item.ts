import type { Action, ActionId, UserId } from './action.ts';

/** Stored as bits in this order: a further one goes to the end. */
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

/** Where an entry stands in a feed: relevancy first, then action id, both descending. */
export interface FeedPosition {
  readonly relevancy: Date;
  readonly actionId: ActionId;
}

/** A position above every other: what is complete down to here is complete in nothing. The last instant a Date can hold. */
export const FLOOR_ABOVE_ALL: FeedPosition = {
  relevancy: new Date(8_640_000_000_000_000),
  actionId: 'f'.repeat(24),
};

/** One entry of a reader's feed: a reference to an action with its relevancy for this reader. */
export interface FeedEntry extends FeedPosition {
  readonly reasons: readonly DeliveryReason[];
  /** The revision of its action when the entry was read. Absent: it was not asked for, or the action has none. */
  readonly rev?: number;
}

/** A feed entry that passed the rules, with its action. */
export interface NewsfeedItem extends FeedEntry {
  readonly userId: UserId;
  readonly action: Action;
  readonly isUnread: boolean;
  /** Not in the feed, but in the list of what the reader put away. */
  readonly isArchived: boolean;
  /** Until when it is out of the feed; null: it is not snoozed. */
  readonly snoozedUntil: Date | null;
}

/** Order of a feed: negative when `a` comes before `b`. */
export function compareFeedPositions(a: FeedPosition, b: FeedPosition): number {
  const byRelevancy = b.relevancy.getTime() - a.relevancy.getTime();
  if (byRelevancy !== 0) return byRelevancy;
  return a.actionId < b.actionId ? 1 : a.actionId > b.actionId ? -1 : 0;
}
