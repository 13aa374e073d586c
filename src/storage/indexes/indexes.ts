import { MongoServerError, type CreateIndexesOptions, type Db } from 'mongodb';
import { ROUTER } from '../database/mongo.ts';
import type { Declaration, Index } from '../documents/declaration.ts';

export interface IndexDefinition extends Index {
  readonly collection: string;
}

const NAMESPACE_NOT_FOUND = 26;

/** All indexes of a collection, including those for this process's types. */
export function indexesOf(declaration: Declaration): IndexDefinition[] {
  const all = [...declaration.indexes, ...(declaration.indexesForTypes?.() ?? [])];
  return all.map((definition) => ({ collection: declaration.name, ...definition }));
}

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
  const options = missing.length === 0 ? {} : await buildOptions(db);
  // One command per collection, since each one scans all documents.
  for (const name of new Set(missing.map(({ collection }) => collection))) {
    const own = missing.flatMap(({ collection, serves: _serves, ...rest }) =>
      collection === name ? [rest] : [],
    );
    await db.collection(name).createIndexes(own, options);
    created.push(...own.map((definition) => `${name}.${definition.name}`));
  }
  return created;
}

/** A replica set would wait for all its members, for ever while one is down. How long a build takes is not bounded. */
async function buildOptions(db: Db): Promise<CreateIndexesOptions & { readonly socketTimeoutMS: number }> {
  const { setName, msg } = await db.command({ hello: 1 });
  const unbounded = { socketTimeoutMS: 0 };
  return setName === undefined && msg !== ROUTER ? unbounded : { ...unbounded, commitQuorum: 'majority' };
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
