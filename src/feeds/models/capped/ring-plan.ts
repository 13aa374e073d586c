import type { UserId } from '../../../domain/action.ts';
import { compareFeedPositions, type FeedEntry, type FeedPosition } from '../../../domain/newsfeed-item.ts';
import type { SlotWrite, TakenSlot } from './ring.ts';
import { isBehind } from '../shared/put-in-rounds.ts';

export interface RingState {
  readonly userId: UserId;
  readonly cap: number;
  /** The next number. */
  readonly first: number;
  readonly floor: FeedPosition | null;
  readonly stored: readonly TakenSlot[];
  readonly wanted: readonly FeedEntry[];
}

/** How a ring comes to hold what is wanted beside what it holds. */
export interface RingPlan {
  /** Wanted and not held, whether they get a place or not. */
  readonly missing: readonly FeedEntry[];
  /** How many numbers are needed, those passed over included. */
  readonly numbers: number;
  readonly writes: readonly SlotWrite[];
  /** Wanted, held and to be raised. */
  readonly behind: readonly FeedEntry[];
  /** Where the floor is to be at least. */
  readonly floor: FeedPosition | null;
  /** Held in places beyond the cap, and not among the best any more. */
  readonly beyond: readonly TakenSlot[];
  /** Nothing is left in places beyond the cap. */
  readonly isWithinCap: boolean;
}

/**
 * The best `cap` entries of both stay or come; the others let go. Those that come get the places of the numbers from
 * `first` on that are free or held by what lets go, the lowest first, so that they give way in this order.
 */
export function planRing({ userId, cap, first, floor, stored, wanted }: RingState): RingPlan {
  const byId = new Map(stored.map((entry) => [entry.actionId, entry]));
  const missing = wanted.filter(({ actionId }) => !byId.has(actionId));
  const behind = wanted.filter((entry) => {
    const there = byId.get(entry.actionId);
    return there !== undefined && isBehind(there, entry);
  });
  const raisedTo = new Map(behind.map(({ actionId, relevancy }) => [actionId, relevancy]));
  const ranked = [
    ...missing,
    ...stored.map((entry) => {
      const relevancy = raisedTo.get(entry.actionId);
      return relevancy !== undefined && relevancy > entry.relevancy ? { ...entry, relevancy } : entry;
    }),
  ]
    .filter((entry) => floor === null || compareFeedPositions(entry, floor) < 0)
    .sort(compareFeedPositions);
  const kept = new Set(ranked.slice(0, cap).map(({ actionId }) => actionId));
  const coming = missing
    .filter(({ actionId }) => kept.has(actionId))
    .sort(compareFeedPositions)
    .reverse();
  const bySlot = new Map(stored.map((entry) => [entry.slot, entry]));
  const writes: SlotWrite[] = [];
  let numbers = 0;
  for (const entry of coming) {
    for (; numbers < cap; numbers++) {
      const slot = (first + numbers) % cap;
      const evicted = bySlot.get(slot) ?? null;
      if (evicted !== null && kept.has(evicted.actionId)) continue;
      writes.push({ userId, slot, entry, evicted });
      numbers += 1;
      break;
    }
  }
  const outside = stored.filter(({ slot }) => slot >= cap);
  const beyond = outside.filter(({ actionId }) => !kept.has(actionId));
  return {
    ...{ missing, numbers, writes, behind, beyond },
    floor: ranked[cap] ?? floor,
    isWithinCap: beyond.length === outside.length,
  };
}
