import type { UserId } from '../../../../src/domain/action.ts';
import {
  compareFeedPositions,
  type FeedEntry,
  type FeedPosition,
} from '../../../../src/domain/newsfeed-item.ts';
import type { SlotWrite, TakenSlot } from './ring.ts';
import { isBehind } from '../../../../src/feeds/models/shared/put-in-rounds.ts';

export interface RingState {
  readonly userId: UserId;
  readonly cap: number;
  /** The next number. */
  readonly first: number;
  readonly floor: FeedPosition | null;
  readonly stored: readonly TakenSlot[];
  readonly wanted: readonly FeedEntry[];
}

/** The steps that make a ring contain the wanted entries. */
export interface RingPlan {
  /** Wanted entries that are not stored, whether they get a slot or not. */
  readonly missing: readonly FeedEntry[];
  /** Numbers to claim, including skipped ones. */
  readonly numbers: number;
  readonly writes: readonly SlotWrite[];
  /** Wanted entries that are stored and must be raised. */
  readonly behind: readonly FeedEntry[];
  /** Minimum for the floor. */
  readonly floor: FeedPosition | null;
  /** Entries in slots beyond the cap that no longer belong to the best. */
  readonly beyond: readonly TakenSlot[];
  /** No occupied slot remains beyond the cap. */
  readonly isWithinCap: boolean;
}

/**
 * Keeps or adds the best `cap` entries of stored and wanted ones; the others are evicted. New entries get the slots of the
 * numbers from `first` on that are free or whose entry is evicted; the lowest come first, so that they will be evicted
 * first.
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
