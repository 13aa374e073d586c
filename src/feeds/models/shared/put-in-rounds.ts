import type { UserId } from '../../../domain/action.ts';
import type { FeedEntry } from '../../../domain/newsfeed-item.ts';
import type { DeliveryChunk, DeliveryOutcome, ReaderDelivery } from '../../feed-store.ts';

/** More concurrent writers of the same entries than this indicate a bug. */
const MAX_ROUNDS = 20;

export interface ChunkWrites<Stored extends ReaderDelivery> {
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
    if (round === MAX_ROUNDS) throw new Error('A delivery met other writers again and again');
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

export function isBehind(
  stored: Pick<FeedEntry, 'relevancy' | 'reasons'>,
  wanted: Pick<FeedEntry, 'relevancy' | 'reasons'>,
): boolean {
  return (
    stored.relevancy.getTime() < wanted.relevancy.getTime() ||
    wanted.reasons.some((reason) => !stored.reasons.includes(reason))
  );
}

/** Merges two entries: the later relevancy and the reasons of both. */
export function unite(stored: FeedEntry, wanted: Pick<FeedEntry, 'relevancy' | 'reasons'>): FeedEntry {
  return {
    actionId: stored.actionId,
    relevancy: stored.relevancy.getTime() < wanted.relevancy.getTime() ? wanted.relevancy : stored.relevancy,
    reasons: [...new Set([...stored.reasons, ...wanted.reasons])],
  };
}
