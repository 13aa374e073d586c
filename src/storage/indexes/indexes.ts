import { MongoServerError, type Db } from 'mongodb';
import type { IndexDefinition, RetiredIndex } from './index-definition.ts';

const NAMESPACE_NOT_FOUND = 26;
const INDEX_NOT_FOUND = 27;

/** Definitions that the database lacks, by collection and name. */
export async function missingIndexes(
  db: Db,
  definitions: readonly IndexDefinition[],
): Promise<IndexDefinition[]> {
  const collections = [...new Set(definitions.map(({ collection }) => collection))];
  const existing = await Promise.all(
    collections.map(async (collection) => [collection, new Set(await indexNames(db, collection))] as const),
  );
  const namesOf = new Map(existing);
  return definitions.filter(({ collection, name }) => namesOf.get(collection)?.has(name) !== true);
}

/**
 * Creates missing indexes; if there are none, it only reads. Several processes may run it at once.
 * @returns the names of created ones, as `collection.name`.
 * @throws when an index of the same name has a different definition, which an operator must resolve.
 */
export async function ensureIndexes(db: Db, definitions: readonly IndexDefinition[]): Promise<string[]> {
  const missing = await missingIndexes(db, definitions);
  const created: string[] = [];
  // One command per collection, since each one scans all documents.
  for (const name of new Set(missing.map(({ collection }) => collection))) {
    const own = missing.flatMap(({ collection, serves: _serves, ...rest }) =>
      collection === name ? [rest] : [],
    );
    await db.collection(name).createIndexes(own);
    created.push(...own.map((definition) => `${name}.${definition.name}`));
  }
  return created;
}

/** Drops existing ones of these indexes. Several processes may run it at once. Returns their names as `collection.name`. */
export async function dropIndexes(db: Db, retired: readonly RetiredIndex[]): Promise<string[]> {
  const dropped: string[] = [];
  for (const collection of new Set(retired.map((index) => index.collection))) {
    const existing = await indexNames(db, collection);
    for (const { name } of retired.filter((index) => index.collection === collection))
      if (existing.includes(name) && (await dropIndex(db, collection, name)))
        dropped.push(`${collection}.${name}`);
  }
  return dropped;
}

/** `false`: another process was first. */
async function dropIndex(db: Db, collection: string, name: string): Promise<boolean> {
  try {
    await db.collection(collection).dropIndex(name);
    return true;
  } catch (error) {
    if (error instanceof MongoServerError && error.code === INDEX_NOT_FOUND) return false;
    throw error;
  }
}

async function indexNames(db: Db, collection: string): Promise<string[]> {
  try {
    const indexes = await db.collection(collection).indexes();
    return indexes.map((description) => description.name ?? '');
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NAMESPACE_NOT_FOUND) return [];
    throw error;
  }
}
