import type { Collection, Db } from 'mongodb';
import type { StoredEntryDocument } from '../../../../src/storage/documents/feed-documents.ts';
import { BY_FIELDS, storedEntries } from '../../../../src/feeds/models/shared/stored-entries.ts';
import type { FeedRingDocument, FeedSlotDocument } from './documents.ts';
import { ringCounters } from './ring-counters.ts';
import { ringSlots } from './ring-slots.ts';

export const SLOTS = 'feedSlots';
/** Found by `_id`. */
export const RINGS = 'feedRings';

export interface CappedCollections {
  readonly rings: Collection<FeedRingDocument>;
  readonly slots: Collection<FeedSlotDocument>;
  /** The same collection with the fields that all models share. */
  readonly entries: Collection<StoredEntryDocument>;
}

export function cappedCollections(db: Db): CappedCollections {
  return {
    rings: db.collection(RINGS),
    slots: db.collection(SLOTS),
    entries: db.collection(SLOTS),
  };
}

export type FeedRingsRepository = ReturnType<typeof storedEntries> &
  ReturnType<typeof ringCounters> &
  ReturnType<typeof ringSlots>;

/**
 * Feeds as rings: an entry occupies slot `n mod cap`, with n from a counter per reader. Each slot is one document, so that
 * the write that adds an entry evicts the previous one. Unique keys: the slot, as `_id`, and userId, actionId.
 */
export function feedRingsRepository(
  { rings, slots, entries }: CappedCollections,
  cap: number,
): FeedRingsRepository {
  return { ...storedEntries(entries, BY_FIELDS), ...ringCounters(rings, cap), ...ringSlots(slots) };
}
