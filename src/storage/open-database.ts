import { MongoClient, type Db, type Document, type MongoClientOptions } from 'mongodb';
import { clock } from '../lib/clock.ts';
import { CORE_COLLECTIONS } from '../features/features.ts';
import { traceCommands } from './database/command-spans.ts';
import { keepTime } from './database/database-time.ts';
import { EndingConnection } from './database/ending-connection.ts';
import type { Collections, Database, DatabaseOptions } from './database/mongo.ts';
import { WriteCheck } from './database/write-check.ts';

/** Connects and determines the kind of server. Rejects with the driver's error when it cannot be reached. */
export async function connectDatabase(options: DatabaseOptions): Promise<Database> {
  const settings: MongoClientOptions & { readonly connectionType: typeof EndingConnection } = {
    appName: 'fanfare',
    connectionType: EndingConnection,
    maxPoolSize: options.maxPoolSize ?? 50,
    monitorCommands: options.monitorCommands === true || options.traces === true,
    serverSelectionTimeoutMS: options.serverSelectionTimeoutMs ?? 5_000,
    ignoreUndefined: true,
    // The driver looks up the name of each list it reads here: in an object with a prototype it would find "constructor",
    // and return the objects in the list as bytes.
    fieldsAsRaw: Object.create(null) as Document,
  };
  const client = new MongoClient(options.uri, settings);
  keepTime(client, clock);
  if (options.traces === true) traceCommands(client);
  try {
    const { msg } = await client.db(options.db).command({ hello: 1 });
    return openDatabase(client.db(options.db), {
      isSharded: msg === ROUTER,
      close: () => client.close(),
    });
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** A database that does not answer within this time counts as away. Milliseconds. */
const PING_WITHIN_MS = 1_000;

/** What mongos answers to `hello`. */
const ROUTER = 'isdbgrid';

export function openDatabase(
  db: Db,
  {
    isSharded,
    close,
  }: {
    readonly isSharded: boolean;
    /** Closes the connections, or leaves them open if others use them. */
    readonly close: () => Promise<void>;
  },
): Database {
  return {
    db,
    isSharded,
    collections: openCollections(db),
    ping: async () => {
      await db.command({ ping: 1 }, { signal: AbortSignal.timeout(PING_WITHIN_MS) });
    },
    writes: new WriteCheck(db),
    version: async () => {
      const info = await db.admin().buildInfo();
      return String(info['version']);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

export function openCollections(db: Db): Collections {
  const opened = CORE_COLLECTIONS.map(({ name }) => [name, db.collection(name)] as const);
  return Object.fromEntries(opened) as unknown as Collections;
}
