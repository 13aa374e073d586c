import type { UserId } from '../../../../src/domain/action.ts';
import type { FeedEntry, FeedPosition } from '../../../../src/domain/newsfeed-item.ts';

/** State of a ring right after claiming numbers. */
export interface FeedRing {
  readonly userId: UserId;
  /** The first of the claimed numbers. */
  readonly first: number;
  readonly floor: FeedPosition | null;
  /** A position with its rank: at least so many stored entries are at or above it; `null`: unknown. */
  readonly pivot: RingPivot | null;
  /** Upper bound of occupied slots. */
  readonly extent: number;
}

export interface RingPivot extends FeedPosition {
  readonly rank: number;
}

export interface TakenSlot extends FeedEntry {
  readonly slot: number;
}

/** An entry to write into a slot, either a free one or that of an evicted entry. */
export interface SlotWrite {
  readonly userId: UserId;
  readonly slot: number;
  readonly entry: FeedEntry;
  readonly evicted: FeedPosition | null;
}

/** Unambiguous for any user id: the slot number follows the last underscore. */
export function slotId(userId: UserId, slot: number): string {
  return `${userId}_${String(slot)}`;
}
