import type { UserId } from '../../../domain/action.ts';
import type { FeedEntry, FeedPosition } from '../../../domain/newsfeed-item.ts';

/** What is known of a ring when numbers have been taken from it. */
export interface FeedRing {
  readonly userId: UserId;
  /** The first of the numbers. */
  readonly first: number;
  readonly floor: FeedPosition | null;
  /** As many held entries as its rank says are not below it; null: not known. */
  readonly pivot: RingPivot | null;
  /** Entries may hold places up to here. */
  readonly extent: number;
}

export interface RingPivot extends FeedPosition {
  readonly rank: number;
}

export interface TakenSlot extends FeedEntry {
  readonly slot: number;
}

/** An entry to be put into a place: a free one, or that of an entry which gives way. */
export interface SlotWrite {
  readonly userId: UserId;
  readonly slot: number;
  readonly entry: FeedEntry;
  readonly evicted: FeedPosition | null;
}

/** Unambiguous, whatever is in a user id: what comes after the last underscore is the place. */
export function slotId(userId: UserId, slot: number): string {
  return `${userId}_${String(slot)}`;
}
