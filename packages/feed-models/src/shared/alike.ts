import type { FeedEntry } from '../../../../src/domain/newsfeed-item.ts';

/** From this number of readers on, equal writes are sent as one statement. */
const MANY = 20;

/** Groups writes that are equal for many readers; returns the rest separately. A reader has each action at most once. */
export function separated<T>(
  all: readonly T[],
  nameOf: (value: T) => string,
): { readonly alike: readonly (readonly T[])[]; readonly others: readonly T[] } {
  if (all.length < MANY) return { alike: [], others: all };
  const groups = new Map<string, T[]>();
  for (const value of all) {
    const name = nameOf(value);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [value]);
    else group.push(value);
  }
  const found = [...groups.values()];
  return {
    alike: found.filter(({ length }) => length >= MANY),
    others: found.filter(({ length }) => length < MANY).flat(),
  };
}

/** Key of entries that differ only in their reader. */
export function nameOfEntry({ actionId, relevancy, reasons }: FeedEntry): string {
  return `${actionId} ${String(relevancy.getTime())} ${reasons.join()}`;
}
