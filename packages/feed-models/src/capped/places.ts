import type { FeedEntry, FeedPosition } from '../../../../src/domain/newsfeed-item.ts';
import { isAbove } from '../../../../src/feeds/floor.ts';
import type { ReaderDelivery } from '../../../../src/feeds/feed-store.ts';
import { slotId, type FeedRing, type SlotWrite } from './ring.ts';

export interface RingSize {
  readonly cap: number;
  /** Number of newest entries that are never evicted. */
  readonly half: number;
}

/** An entry for a reader in whose ring numbers have been claimed for it. */
export interface Candidate {
  readonly reader: ReaderDelivery;
  readonly ring: FeedRing;
  readonly entry: FeedEntry;
}

/** Entries in slots, by slot id. */
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

/** The first slot that is free or whose entry may be evicted. */
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

/** Whether at least half of the cap remains above it. */
function mayGiveWay(
  evicted: FeedPosition,
  entry: FeedPosition,
  { pivot }: FeedRing,
  { half }: RingSize,
): boolean {
  // With a single slot, the better entry is kept.
  if (half === 1 && isAbove(entry, evicted)) return true;
  return pivot !== null && pivot.rank >= half && isAbove(pivot, evicted);
}
