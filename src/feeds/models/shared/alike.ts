import type { FeedEntry } from '../../../domain/newsfeed-item.ts';

/** What goes to as many readers and more is written by one statement for all of them. */
const MANY = 20;

/** Groups of what is the same for many readers, and the rest. Of one reader there is each action once. */
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

/** The same for entries that differ in nothing but their reader. */
export function nameOfEntry({ actionId, relevancy, reasons }: FeedEntry): string {
  return `${actionId} ${String(relevancy.getTime())} ${reasons.join()}`;
}
