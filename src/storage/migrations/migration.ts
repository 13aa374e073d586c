import type { Collections } from '../database/mongo.ts';

/** All migrations in order of version, which begins with 1. A released migration is never changed. */
export const MIGRATIONS: readonly Migration[] = [];

/** The schema version that a process with these migrations writes. */
export function latestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

export interface MigrationBatch {
  /** Start of the next batch; `null`: this was the last one. */
  readonly after: string | null;
  readonly looked: number;
}

/**
 * Migrates stored documents to a new schema, batch by batch, while they are read and written. A batch may run twice, and the
 * process may die between any two writes, so documents that already have the new schema must not be changed. Until the
 * database has the version, readers accept both schemas.
 */
export interface Migration {
  /** Version of the preceding migration plus one. */
  readonly version: number;
  /** A short description for operators. */
  readonly name: string;
  /** @param after where to start; `null`: at the beginning. */
  readonly batch: (collections: Collections, after: string | null, limit: number) => Promise<MigrationBatch>;
}
