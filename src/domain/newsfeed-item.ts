import type { Action, ActionId, UserId } from './action.ts';

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
}

/** A feed entry that passed the rules, together with its action. */
export interface NewsfeedItem extends FeedEntry {
  readonly userId: UserId;
  readonly action: Action;
  readonly isUnread: boolean;
  /** Listed among the reader's archived items instead of the feed. */
  readonly isArchived: boolean;
  /** When the snooze ends; `null`: not snoozed. */
  readonly snoozedUntil: Date | null;
}

/** Feed order: negative when `a` comes before `b`. */
export function compareFeedPositions(a: FeedPosition, b: FeedPosition): number {
  const byRelevancy = b.relevancy.getTime() - a.relevancy.getTime();
  if (byRelevancy !== 0) return byRelevancy;
  return a.actionId < b.actionId ? 1 : a.actionId > b.actionId ? -1 : 0;
}
