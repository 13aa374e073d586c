import type { Migration } from './migration.ts';

/** All migrations in order of version, which begins with 1. A released migration is never changed. */
export const MIGRATIONS: readonly Migration[] = [];

/** The schema version that a process with these migrations writes. */
export function latestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}
