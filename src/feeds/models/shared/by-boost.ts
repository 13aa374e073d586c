import type { ReaderDelivery } from '../../feed-store.ts';

export interface SameBoost {
  readonly boost: Pick<ReaderDelivery, 'relevancy' | 'reasons'>;
  readonly readers: readonly ReaderDelivery[];
}

/** Groups readers with equal boosts, so that they share one write. */
export function byBoost(readers: readonly ReaderDelivery[]): SameBoost[] {
  const groups = new Map<string, { boost: ReaderDelivery; readers: ReaderDelivery[] }>();
  for (const reader of readers) {
    const key = `${String(reader.relevancy.getTime())} ${reader.reasons.join(' ')}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { boost: reader, readers: [reader] });
    else group.readers.push(reader);
  }
  return [...groups.values()];
}
