import type { Migration } from './migration.ts';

/** From this version on every writing process stamps the directory with every change of a member or ref. */
export const STAMPED_SINCE = 5;

/** Changes no document: only waits until all processes of releases without stamps have ended. */
export const stampsMigration: Migration = {
  version: STAMPED_SINCE,
  name: 'the directory is stamped',
  batch: () => Promise.resolve({ after: null, looked: 0 }),
};
