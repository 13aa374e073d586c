import type { ReaderDelivery } from '../../feed-store.ts';

/** Readers for whom an action is raised to the same relevancy and for the same reasons. */
export interface SameLift {
  readonly lift: Pick<ReaderDelivery, 'relevancy' | 'reasons'>;
  readonly readers: readonly ReaderDelivery[];
}

/** So that readers with the same lift share one write. */
export function byLift(readers: readonly ReaderDelivery[]): SameLift[] {
  const groups = new Map<string, { lift: ReaderDelivery; readers: ReaderDelivery[] }>();
  for (const reader of readers) {
    const key = `${String(reader.relevancy.getTime())} ${reader.reasons.join(' ')}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { lift: reader, readers: [reader] });
    else group.readers.push(reader);
  }
  return [...groups.values()];
}
