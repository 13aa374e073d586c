import type { RecordedCommand } from './commands.ts';

const HOLDERS = 'who holds an action that is withdrawn, or addressed to others';
const PURGE = 'a deleted action is purged';
/** What has a sharded database refused comes here too: the tests have one that is none. */
const TENANT = 'a tenant is erased, or all data are made those of one';
const MOVED = 'events that were moved, by id; erasure';

/** Why some commands go to every shard of a collection. What is not named here names its shard key. */
export const SCATTERED: Readonly<Record<string, { readonly reads?: string; readonly writes?: string }>> = {
  actions: {
    reads:
      'what is due next; what a ref, a team, a group or a member has to do with: slices, lists, feeds read from the source, erasure',
    writes: 'erasure; lanes of a release before',
  },
  publications: { writes: TENANT },
  newsfeedItems: { reads: `${HOLDERS}; ${TENANT}`, writes: TENANT },
  feedSlots: { reads: `${HOLDERS}; ${TENANT}`, writes: TENANT },
  feedRings: { reads: TENANT, writes: TENANT },
  feedTops: { reads: `${HOLDERS}; ${TENANT}`, writes: TENANT },
  timeBuckets: { reads: `${HOLDERS}; ${TENANT}`, writes: TENANT },
  sizeBuckets: { reads: `${HOLDERS}; ${TENANT}`, writes: TENANT },
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
  bookmarks: { reads: 'erasure', writes: `${PURGE}; ${TENANT}` },
  hiddenItems: { reads: `a migration; ${TENANT}`, writes: `${PURGE}; a migration; ${TENANT}` },
};

const READS: ReadonlySet<string> = new Set(['find', 'count', 'distinct', 'aggregate']);

/** Null: nobody has given one. */
export function reasonOf({ name, collection }: Pick<RecordedCommand, 'name' | 'collection'>): string | null {
  return SCATTERED[collection]?.[READS.has(name) ? 'reads' : 'writes'] ?? null;
}
