import { afterAll, inject } from 'vitest';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import { connectDatabase, type Database } from '../../src/storage/mongo.ts';
import { uniqueName } from './unique-name.ts';

/**
 * Empty databases with all their indexes, used again by the next test of the file: to make one takes much longer than
 * to empty one.
 */
const spare: string[] = [];
const made: string[] = [];

afterAll(async () => {
  if (made.length === 0) return;
  await using database = await connectDatabase({ uri: inject('mongodbUri'), db: 'admin' });
  for (const name of made.splice(0)) await database.db.client.db(name).dropDatabase();
});

/** The name of an empty database with all indexes that nobody else uses. */
export async function borrowDatabase(): Promise<string> {
  const name = spare.pop();
  if (name !== undefined) return name;
  const fresh = uniqueName('test');
  made.push(fresh);
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
