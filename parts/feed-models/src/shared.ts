import type { FeedEntry, FeedPosition } from '../../../src/domain/newsfeed-item.ts';
import type { UserId } from '../../../src/domain/action.ts';
import { groupsOf } from '../../../src/lib/groups-of.ts';
import { isBehind } from '../../../src/feed/models/stored-entries.ts';
import type { DeliveryChunk, DeliveryOutcome, ReaderDelivery } from '../../../src/feed/feed-store.ts';
import { toPlace } from '../../../src/feed/store/feed-position.ts';

/** From this number of readers on, equal writes are sent as one statement. */
const MANY = 20;

/** Groups writes that are equal for many readers; returns the rest separately. A reader has each action at most once. */
export function separated<T>(
  all: readonly T[],
  nameOf: (value: T) => string,
): { readonly alike: readonly (readonly T[])[]; readonly others: readonly T[] } {
  if (all.length < MANY) return { alike: [], others: all };
  const found = [...groupsOf(all, nameOf).values()];
  return {
    alike: found.filter(({ length }) => length >= MANY),
    others: found.filter(({ length }) => length < MANY).flat(),
  };
}

/** Key of entries that differ only in their reader. */
export function nameOfEntry({ actionId, relevancy, reasons }: FeedEntry): string {
  return `${actionId} ${String(relevancy.getTime())} ${reasons.join()}`;
}

/** More concurrent writers of the same entries than this indicate a bug. */
const MAX_ROUNDS = 20;

interface ChunkWrites<Stored extends ReaderDelivery> {
  holders(userIds: readonly UserId[]): Promise<readonly Stored[]>;
  /** Inserts missing entries. Returns readers whose insert failed because another writer may have been faster. */
  insert(readers: readonly ReaderDelivery[]): Promise<readonly ReaderDelivery[]>;
  /** Raises entries. Returns readers whose entry may have been removed. */
  raise(
    readers: readonly { readonly wanted: ReaderDelivery; readonly stored: Stored }[],
  ): Promise<readonly ReaderDelivery[]>;
}

/**
 * Delivers with three writes of a model: raise existing entries, insert missing ones, and look up again entries that another
 * writer inserted meanwhile. One round unless writers collide.
 */
export async function deliverInRounds<Stored extends ReaderDelivery>(
  { readers, isFirstAttempt }: Pick<DeliveryChunk, 'readers' | 'isFirstAttempt'>,
  writes: ChunkWrites<Stored>,
): Promise<DeliveryOutcome> {
  const added: UserId[] = [];
  const raised: UserId[] = [];
  let pending = readers;
  for (let round = 0; pending.length > 0; round++) {
    if (round === MAX_ROUNDS) throw new Error('A delivery failed: other writers changed the feed each time');
    const holders =
      round === 0 && isFirstAttempt ? [] : await writes.holders(pending.map((reader) => reader.userId));
    const stored = new Map(holders.map((holder) => [holder.userId, holder]));
    const missing = pending.filter((reader) => !stored.has(reader.userId));
    const lost = new Set(missing.length === 0 ? [] : await writes.insert(missing));
    const behind = pending.flatMap((wanted) => {
      const holder = stored.get(wanted.userId);
      return holder !== undefined && isBehind(holder, wanted) ? [{ wanted, stored: holder }] : [];
    });
    const gone = new Set(behind.length === 0 ? [] : await writes.raise(behind));
    added.push(...missing.filter((reader) => !lost.has(reader)).map((reader) => reader.userId));
    raised.push(...behind.flatMap(({ wanted }) => (gone.has(wanted) ? [] : [wanted.userId])));
    pending = [...lost, ...gone];
  }
  return { added, raised };
}

/** Merges two entries: the later relevancy and the reasons of both. */
export function unite(stored: FeedEntry, wanted: Pick<FeedEntry, 'relevancy' | 'reasons'>): FeedEntry {
  return {
    actionId: stored.actionId,
    relevancy: stored.relevancy.getTime() < wanted.relevancy.getTime() ? wanted.relevancy : stored.relevancy,
    reasons: [...new Set([...stored.reasons, ...wanted.reasons])],
  };
}

/** Expression: whether the position given by one expression comes before another in feed order. */
export function comesBefore(a: string, b: string): object {
  return {
    $or: [
      { $gt: [`${a}.relevancy`, `${b}.relevancy`] },
      {
        $and: [{ $eq: [`${a}.relevancy`, `${b}.relevancy`] }, { $gt: [`${a}.actionId`, `${b}.actionId`] }],
      },
    ],
  };
}

/** Expression: the document's entries above a position. */
export function entriesAbove(position: FeedPosition): object {
  return {
    $let: {
      vars: { from: toPlace(position) },
      in: { $filter: { input: '$entries', as: 'entry', cond: comesBefore('$$entry', '$$from') } },
    },
  };
}
