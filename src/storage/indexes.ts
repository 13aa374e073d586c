import { MongoServerError, type Db } from 'mongodb';
import type { IndexDefinition } from './index-definition.ts';

/** Those of the definitions that the database does not have yet, by collection and name. */
export async function missingIndexes(
  db: Db,
  definitions: readonly IndexDefinition[],
): Promise<IndexDefinition[]> {
  const existing = new Set<string>();
  for (const collection of new Set(definitions.map((definition) => definition.collection))) {
    for (const name of await indexNames(db, collection)) existing.add(`${collection}.${name}`);
  }
  return definitions.filter((definition) => !existing.has(`${definition.collection}.${definition.name}`));
}

/**
 * Creates the indexes that are missing; when none is, it only looks. Two processes may do this at once.
 * @returns the names of those created, as `collection.name`.
 * @throws when an index of the same name has another definition: that is for an operator to decide.
 */
export async function ensureIndexes(db: Db, definitions: readonly IndexDefinition[]): Promise<string[]> {
  const missing = await missingIndexes(db, definitions);
  const created: string[] = [];
  for (const { collection, serves: _serves, ...definition } of missing) {
    await db.collection(collection).createIndexes([definition]);
    created.push(`${collection}.${definition.name}`);
  }
  return created;
}

async function indexNames(db: Db, collection: string): Promise<string[]> {
  try {
    const indexes = await db.collection(collection).indexes();
    return indexes.map((description) => description.name ?? '');
  } catch (error) {
    if (error instanceof MongoServerError && error.code === 26) return [];
    throw error;
  }
}
