import type { FeedEntry, FeedPosition } from '../../../domain/newsfeed-item.ts';
import { isAbove } from '../../floor.ts';
import type { ReaderDelivery } from '../../feed-store.ts';
import { slotId, type FeedRing, type SlotWrite } from './ring.ts';

export interface RingSize {
  readonly cap: number;
  /** So many of the newest entries never give way. */
  readonly half: number;
}

/** An entry for a reader in whose ring numbers have been taken for it. */
export interface Candidate {
  readonly reader: ReaderDelivery;
  readonly ring: FeedRing;
  readonly entry: FeedEntry;
}

/** What is in places, by their ids. */
export type Occupants = ReadonlyMap<string, FeedPosition>;

export function placesOf({ first }: FeedRing, count: number, { cap }: RingSize): readonly number[] {
  return Array.from({ length: count }, (_, k) => (first + k) % cap);
}

export function isOccupantOf(
  places: readonly number[],
  { ring: { userId }, entry }: Candidate,
  occupants: Occupants,
): boolean {
  return places.some((slot) => occupants.get(slotId(userId, slot))?.actionId === entry.actionId);
}

/** The first of the places that is free, or held by what may give way. */
export function placeFor(
  places: readonly number[],
  { ring, entry }: Candidate,
  occupants: Occupants,
  size: RingSize,
): SlotWrite | null {
  const { userId, floor } = ring;
  for (const slot of places) {
    const evicted = occupants.get(slotId(userId, slot)) ?? null;
    if (evicted === null || !isAbove(evicted, floor) || mayGiveWay(evicted, entry, ring, size))
      return { userId, slot, entry, evicted };
  }
  return null;
}

/** Whether at least half of the cap is left above it. */
function mayGiveWay(
  evicted: FeedPosition,
  entry: FeedPosition,
  { pivot }: FeedRing,
  { half }: RingSize,
): boolean {
  // Of one place only the better one is kept.
  if (half === 1 && isAbove(entry, evicted)) return true;
  return pivot !== null && pivot.rank >= half && isAbove(pivot, evicted);
}
