import type { Migration } from './migration.ts';

/** From this version on every process that writes stamps the directory with every change of a member or ref. */
export const STAMPED_SINCE = 5;

/** Changes no document: it waits until the last process of a release has ended that stamps nothing. */
export const stampsMigration: Migration = {
  version: STAMPED_SINCE,
  name: 'the directory is stamped',
  batch: () => Promise.resolve({ after: null, looked: 0 }),
};
