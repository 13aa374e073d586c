import { FEED_COLLECTIONS } from './feed-models.ts';
import { CORE_COLLECTIONS } from './features.ts';
import type { Database, DatabaseOptions } from '../storage/database/mongo.ts';
import { connect } from '../storage/open-database.ts';
import type { Declaration } from '../storage/documents/declaration.ts';
import { indexesOf, type IndexDefinition } from '../storage/indexes/indexes.ts';

/** Every collection, including those of feed models. */
export const COLLECTIONS: readonly Declaration[] = [...CORE_COLLECTIONS, ...FEED_COLLECTIONS];

/** `connect` for every collection of the core: those of feed models are opened by their stores. */
export function connectDatabase(options: DatabaseOptions): Promise<Database> {
  return connect(options, CORE_COLLECTIONS);
}

/** All indexes, including those for this process's types. @param options.hasTenants default false. */
export function allIndexes({ hasTenants = false } = {}): readonly IndexDefinition[] {
  return COLLECTIONS.flatMap(indexesOf).filter(({ key }) => hasTenants || !('tenant' in key));
}
