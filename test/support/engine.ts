import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import type { Db } from 'mongodb';
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of the engine that serves the whole run. */
    mongodbUri: string;
    /** Of the Redis that serves the whole run. */
    redisUrl: string;
    /** What the names of this run's spare databases begin with. */
    spareDatabases: string;
  }
}

/** A database of the run's engine that nobody else uses. Disposing drops it. */
export interface TestDatabase extends AsyncDisposable {
  readonly uri: string;
  readonly name: string;
  readonly client: MongoClient;
  readonly db: Db;
}

/** Makes a fresh, empty database with a connected client. */
export async function testDatabase(): Promise<TestDatabase> {
  const uri = inject('mongodbUri');
  const name = `test_${unique()}`;
  const client = await MongoClient.connect(uri, { ignoreUndefined: true });
  const db = client.db(name);
  return {
    uri,
    name,
    client,
    db,
    async [Symbol.asyncDispose]() {
      try {
        await db.dropDatabase();
      } finally {
        await client.close();
      }
    },
  };
}

/** A prefix for the keys of one test in the run's Redis, unlike any other. */
export function testRedisPrefix(): string {
  return `test:${unique()}:`;
}

/** Where a person's runs keep the engine too, so that the tests fetch nothing that is there. */
export function testCacheDir(): string {
  const base = process.env['XDG_CACHE_HOME'] ?? '';
  return join(base.startsWith('/') ? base : join(homedir(), '.cache'), 'fanfare');
}

function unique(): string {
  return `${Date.now().toString(36)}_${randomBytes(5).toString('hex')}`;
}
