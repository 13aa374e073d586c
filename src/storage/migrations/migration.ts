import type { Collections } from '../database/mongo.ts';

export interface MigrationBatch {
  /** Where the next batch begins; null: this was the last one. */
  readonly after: string | null;
  /** Documents looked at. */
  readonly looked: number;
}

/**
 * Brings stored documents into a new shape, batch by batch, while they are read and written. A batch may run twice, and
 * the process may die between any two of its writes, so it changes nothing that has the new shape already. Until the
 * schema has the version, readers take both shapes.
 */
export interface Migration {
  /** One more than that of the migration before. */
  readonly version: number;
  /** What it does, in a few words for operators. */
  readonly name: string;
  /** @param after where to begin; null: at the beginning. */
  readonly batch: (collections: Collections, after: string | null, limit: number) => Promise<MigrationBatch>;
}
