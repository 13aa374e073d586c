import { inject } from 'vitest';
import { shard } from '../../parts/sharding/src/shard.ts';
import { allIndexes } from '../../src/app/collections.ts';
import { ensureIndexes } from '../../src/storage/indexes/indexes.ts';
import { connectDatabase } from '../../src/app/collections.ts';
import { CORE_COLLECTIONS } from '../../src/app/features.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import type { Database } from '../../src/storage/database/mongo.ts';
import { isLogged } from './command-log.ts';
import { recordingTerminal } from './recording-terminal.ts';
import { uniqueName } from './unique-name.ts';
import { commandContext } from './command-context.ts';

/**
 * Empty databases with all their indexes, used again by the next test of the process: to make one takes much longer than
 * to empty one. The run drops them in the end.
 */
const spare: string[] = [];

/**
 * The connections that the tests of a process share: to log in takes longer than many a test. They end with it. Files whose commands
 * are logged have their own.
 */
const connected = new Map<boolean, Promise<Database>>();

/** A database over connections that stay open when it is closed. */
export async function openShared(name: string): Promise<Database> {
  const ofLog = isLogged();
  const shared = connected.get(ofLog) ?? connectDatabase({ uri: inject('mongodbUri'), db: 'admin' });
  connected.set(ofLog, shared);
  const { db, isSharded } = await shared;
  return openDatabase(db.client.db(name), {
    isSharded,
    close: () => Promise.resolve(),
    declarations: CORE_COLLECTIONS,
  });
}

/** The name of an empty database with all indexes that nobody else uses. */
export async function borrowDatabase(): Promise<string> {
  const name = spare.pop();
  if (name !== undefined) return name;
  const fresh = uniqueName(inject('spareDatabases'));
  const { db, isSharded } = await openShared(fresh);
  await ensureIndexes(db, allIndexes());
  const env = { MONGODB_URI: inject('mongodbUri'), MONGODB_DB: fresh };
  if (isSharded) await shard(commandContext({ env, terminal: recordingTerminal().terminal }), { run: true });
  return fresh;
}

/** Empties the database for the next test. Nothing may be writing to it any more. */
export async function returnDatabase({ db }: Pick<Database, 'db'>): Promise<void> {
  const collections = await db.collections();
  const names = collections.map(({ collectionName }) => collectionName);
  await Promise.all((await notEmpty(db, names)).map((name) => db.collection(name).deleteMany({})));
  spare.push(db.databaseName);
}

/** Asked for in one command: most collections are empty after most tests. */
async function notEmpty(db: Database['db'], [first, ...others]: readonly string[]): Promise<string[]> {
  if (first === undefined) return [];
  const look = (name: string) => [{ $limit: 1 }, { $project: { _id: 0, name: { $literal: name } } }];
  const pipeline = [
    ...look(first),
    ...others.map((coll) => ({ $unionWith: { coll, pipeline: look(coll) } })),
  ];
  const found = await db.collection(first).aggregate<{ readonly name: string }>(pipeline).toArray();
  return found.map(({ name }) => name);
}
