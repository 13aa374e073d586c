import { inject } from 'vitest';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import { connectDatabase, type Database } from '../../src/storage/mongo.ts';
import { uniqueName } from './unique-name.ts';

/**
 * Empty databases with all their indexes, used again by the next test of the process: to make one takes much longer than
 * to empty one. The run drops them in the end.
 */
const spare: string[] = [];

/** The name of an empty database with all indexes that nobody else uses. */
export async function borrowDatabase(): Promise<string> {
  const name = spare.pop();
  if (name !== undefined) return name;
  const fresh = uniqueName(inject('spareDatabases'));
  await using database = await connectDatabase({ uri: inject('mongodbUri'), db: fresh });
  await ensureIndexes(database.db);
  return fresh;
}

/** Empties the database for the next test. Nothing may be writing to it any more. */
export async function returnDatabase(database: Database): Promise<void> {
  const collections = await database.db.collections();
  await Promise.all(collections.map((collection) => collection.deleteMany({})));
  spare.push(database.db.databaseName);
}
