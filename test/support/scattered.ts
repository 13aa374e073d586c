import type { RecordedCommand } from './commands.ts';

const HOLDERS = 'who holds an action that is withdrawn, or addressed to others';
const PURGE = 'a deleted action is purged';
const MOVED = 'events that were moved, by id; erasure';

/** Why some commands go to every shard of a collection. What is not named here names its shard key. */
export const SCATTERED: Readonly<Record<string, { readonly reads?: string; readonly writes?: string }>> = {
  actions: {
    reads:
      'what is due next; what a ref, a team, a group or a member has to do with: slices, lists, feeds read from the source, erasure',
    writes: 'erasure; lanes of a release before',
  },
  newsfeedItems: { reads: HOLDERS },
  feedSlots: { reads: HOLDERS },
  feedTops: { reads: HOLDERS },
  timeBuckets: { reads: HOLDERS },
  sizeBuckets: { reads: HOLDERS },
  feeds: {
    reads: 'what is due next: rebuilds, trims, mutes, digests; who has not read for long; erasure',
    writes: 'erasure; a migration',
  },
  follows: {
    reads: 'followers of a ref, merged in order; what was cut off; events that wait; erasure',
    writes: MOVED,
  },
  interactions: {
    reads: 'one by its id alone; what a member did; replies; what was cut off; events that wait; erasure',
    writes: MOVED,
  },
  members: { reads: 'members of a team or department; names that are due; erasure', writes: 'erasure' },
  refs: { reads: 'which refs are pulled; names that are due', writes: 'which refs are pulled' },
  itemMarks: { reads: 'snoozes that end; erasure', writes: `${PURGE}; snoozes that have ended, by id` },
  bookmarks: { reads: 'erasure', writes: PURGE },
  hiddenItems: { reads: 'a migration', writes: `${PURGE}; a migration` },
};

const READS: ReadonlySet<string> = new Set(['find', 'count', 'distinct', 'aggregate']);

/** Null: nobody has given one. */
export function reasonOf({ name, collection }: Pick<RecordedCommand, 'name' | 'collection'>): string | null {
  return SCATTERED[collection]?.[READS.has(name) ? 'reads' : 'writes'] ?? null;
}
