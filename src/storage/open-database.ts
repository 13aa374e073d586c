import {
  MongoClient,
  type Db,
  type Document,
  type MongoClientOptions,
  type CommandStartedEvent,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoOperationTimeoutError,
  WriteConcern,
} from 'mongodb';
import { clock } from '../lib/clock.ts';
import type { Declaration } from './documents/declaration.ts';
import { keepTime } from './database/database-time.ts';
import { type Collections, type Database, type DatabaseOptions, ROUTER } from './database/mongo.ts';
import { WriteCheck } from './database/write-check.ts';
import { openClientSpan, type OpenSpan } from '../telemetry/tracing.ts';
import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

interface DriverMessage {
  /** Absent in the greeting. */
  readonly command?: Document;
}

interface DriverConnection {
  readonly socket: Socket;
  writeCommand(message: DriverMessage, options: object): Promise<void>;
  /** Ends what is under way with this error, and the connection. */
  cleanup(error: Error): void;
  destroy(): void;
}

interface ConnectionOptions {
  /** Emits `cancel` when the connections of its owner are closed. */
  readonly cancellationToken?: EventEmitter;
}

/** The driver accepts a connection class from clients but does not export its own. */
const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as {
  readonly Connection: new (socket: Socket, options: ConnectionOptions) => DriverConnection;
};

/**
 * A connection on which every command ends when the socket does, with an error of the driver. When a socket's buffer is
 * full, the driver waits for it to drain, which has two bugs:
 * - A destroyed socket that has not emitted `close` yet never drains. A command sent at that moment never ends. If it is the
 * driver's
 *   own heartbeat, it is the last one, and all later operations fail until the process is restarted.
 * - A socket that breaks while draining fails the command with the raw socket error, which is neither retried nor recognised
 * as a lost
 *   connection.
 *
 * Both occur when many connections end at once, for example when the server is killed.
 *
 * Neither does closing a client end a connection whose handshake is not answered: its socket would keep the process alive for
 * another half a minute.
 */
class EndingConnection extends Connection {
  constructor(socket: Socket, options: ConnectionOptions) {
    super(endingAfter(socket), options);
    const { cancellationToken } = options;
    const end = (): void => this.destroy();
    cancellationToken?.once('cancel', end);
    // The driver's own listener ran first: waiting commands continue and fail because the connection is closed.
    socket.once('close', () => {
      cancellationToken?.off('cancel', end);
      socket.emit('drain');
    });
  }

  override async writeCommand(message: DriverMessage, options: object): Promise<void> {
    try {
      await super.writeCommand(message, options);
    } catch (error) {
      throw isSocketError(error) ? new MongoNetworkError(error.message, { cause: error }) : error;
    }
  }
}

/**
 * Ends commands that only read in time. By the socket and not by `maxTimeMS`, which costs the local engine two statements more for
 * each command: a server ends what it does for a connection that is closed. This takes a connection only from what is overdue.
 */
function endingReads(readsWithinMs: number): typeof EndingConnection {
  return class extends EndingConnection {
    #isReading = false;

    override writeCommand(message: DriverMessage, options: object): Promise<void> {
      this.#isReading = message.command !== undefined && isRead(message.command);
      if (this.#isReading) this.socket.setTimeout(readsWithinMs);
      return super.writeCommand(message, options);
    }

    /** The driver sends a read again that is lost with its connection, but not after an error of another class. */
    override cleanup(error: Error): void {
      const isLate = this.#isReading && error instanceof MongoNetworkTimeoutError;
      super.cleanup(
        isLate ? new MongoOperationTimeoutError('A read took too long', { cause: error }) : error,
      );
    }
  };
}

function isRead(command: Document): boolean {
  if ('aggregate' in command) {
    const { pipeline } = command as { readonly pipeline?: readonly Document[] };
    const last = pipeline?.at(-1);
    return last === undefined || !('$merge' in last || '$out' in last);
  }
  return 'find' in command || 'getMore' in command || 'distinct' in command || 'count' in command;
}

/**
 * Counts a socket's timeout from when it is set to when the answer is complete. In Node it begins again with every byte, and an
 * answer that trickles has no end.
 */
function endingAfter(socket: Socket): Socket {
  let late: NodeJS.Timeout | undefined;
  // Connecting has set one.
  socket.setTimeout(0);
  socket.setTimeout = (ms) => {
    clearTimeout(late);
    // After a turn in which the loop was held, the answer may be there and only not be read yet.
    late =
      ms === 0
        ? undefined
        : setTimeout(() => {
            const overdue = late;
            setImmediate(() => {
              if (late === overdue) socket.emit('timeout');
            });
          }, ms);
    return socket;
  };
  return socket.once('close', () => {
    clearTimeout(late);
  });
}

/** EPIPE, ECONNRESET, ERR_STREAM_DESTROYED and the like; errors of the driver and of aborts have no such code. */
function isSocketError(error: unknown): error is NodeJS.ErrnoException {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('E')
  );
}

/** The server is older than what this release needs. */
export class UnsupportedServer extends Error {
  override readonly name = 'UnsupportedServer';

  constructor(version: string) {
    super(`The database is MongoDB ${version}, or speaks its protocol. Fanfare needs 6.0 or newer.`);
  }
}

/** The version of MongoDB 6.0, the oldest with all stages and operators that are used. */
const LEAST_WIRE_VERSION = 17;
/** The longest that a command waits for a connection, and then for its answer. Milliseconds. */
const ANSWERS_WITHIN_MS = 60_000;
/**
 * A server that has not said hello for so long, in milliseconds, is away: what waits for it ends. It is greeted every two seconds,
 * and answers without looking at any data.
 */
const GREETED_EVERY_MS = 2_000;
const GREETS_WITHIN_MS = 3_000;
/** The driver's own intervals, unless the URI sets others. */
const DRIVER_GREETS = { heartbeatFrequencyMS: 10_000, connectTimeoutMS: 30_000 };
/** How long an operation looks for a server, in milliseconds. */
const FINDS_WITHIN_MS = 4_000;

/**
 * Connects and determines the kind of server. Writes are confirmed by a majority of the members unless the URI says otherwise.
 * Rejects with the driver's error when it cannot be reached, and when it is too old.
 */
export async function connect(
  options: DatabaseOptions,
  declarations: readonly Declaration[],
): Promise<Database> {
  const { socketTimeoutMS, waitQueueTimeoutMS, heartbeatFrequencyMS, connectTimeoutMS, ...given } =
    new MongoClient(options.uri).options;
  // The driver's type does not say that there may be none.
  const { w, wtimeoutMS, journal } = (given.writeConcern as WriteConcern | undefined) ?? {};
  const answersWithinMs = options.answersWithinMs ?? ANSWERS_WITHIN_MS;
  const settings: MongoClientOptions & { readonly connectionType: typeof EndingConnection } = {
    appName: 'fanfare',
    connectionType:
      options.readsWithinMs === undefined
        ? EndingConnection
        : endingReads(Math.min(options.readsWithinMs, answersWithinMs)),
    maxPoolSize: options.maxPoolSize ?? 50,
    monitorCommands: options.monitorCommands === true || options.traces === true,
    // A write that only the primary has confirmed is rolled back when another one takes over.
    ...(w === undefined ? { writeConcern: new WriteConcern('majority', wtimeoutMS, journal) } : {}),
    ...(socketTimeoutMS === 0 ? { socketTimeoutMS: answersWithinMs } : {}),
    ...(waitQueueTimeoutMS === 0 ? { waitQueueTimeoutMS: answersWithinMs } : {}),
    ...(heartbeatFrequencyMS === DRIVER_GREETS.heartbeatFrequencyMS
      ? { heartbeatFrequencyMS: GREETED_EVERY_MS }
      : {}),
    ...(connectTimeoutMS === DRIVER_GREETS.connectTimeoutMS ? { connectTimeoutMS: GREETS_WITHIN_MS } : {}),
    serverSelectionTimeoutMS: options.serverSelectionTimeoutMs ?? FINDS_WITHIN_MS,
    ignoreUndefined: true,
    // The driver looks up the name of each list it reads here: in an object with a prototype it would find "constructor",
    // and return the objects in the list as bytes.
    fieldsAsRaw: Object.create(null) as Document,
  };
  const client = new MongoClient(options.uri, settings);
  keepTime(client, clock);
  if (options.traces === true) traceCommands(client);
  try {
    const { msg, maxWireVersion } = await client.db(options.db).command({ hello: 1 });
    if (Number(maxWireVersion) < LEAST_WIRE_VERSION)
      throw new UnsupportedServer(String((await client.db(options.db).admin().buildInfo())['version']));
    return openDatabase(client.db(options.db), {
      isSharded: msg === ROUTER,
      close: () => client.close(),
      declarations,
    });
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** A database that does not answer within this time counts as away. Milliseconds. */
const PING_WITHIN_MS = 1_000;

export function openDatabase(
  db: Db,
  {
    isSharded,
    close,
    declarations,
  }: {
    readonly isSharded: boolean;
    /** Closes the connections, or leaves them open if others use them. */
    readonly close: () => Promise<void>;
    readonly declarations: readonly Declaration[];
  },
): Database {
  return {
    db,
    isSharded,
    collections: openCollections(db, declarations),
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

function openCollections(db: Db, declarations: readonly Declaration[]): Collections {
  const opened = declarations.map(({ name }) => [name, db.collection(name)] as const);
  return Object.fromEntries(opened) as unknown as Collections;
}

/**
 * Creates a span for each command of a traced request or pass; the client must monitor commands. Uses the driver's events,
 * whereas OpenTelemetry's own package patches the driver's methods at load time.
 */
function traceCommands(client: MongoClient): void {
  const open = new Map<number, OpenSpan>();
  const take = (requestId: number): OpenSpan | undefined => {
    const span = open.get(requestId);
    open.delete(requestId);
    return span;
  };
  client.on('commandStarted', (event) => {
    const collection = collectionOf(event);
    const span = openClientSpan(`${event.commandName} ${collection}`.trimEnd(), () => ({
      'db.system.name': 'mongodb',
      'db.namespace': event.databaseName,
      'db.operation.name': event.commandName,
      'db.collection.name': collection,
    }));
    if (span !== null) open.set(event.requestId, span);
  });
  client.on('commandSucceeded', ({ requestId }) => take(requestId)?.end());
  client.on('commandFailed', ({ requestId, failure }) => take(requestId)?.fail(failure));
}

function collectionOf({ command, commandName }: CommandStartedEvent): string {
  // getMore names its collection in another field.
  const named: unknown = commandName === 'getMore' ? command['collection'] : command[commandName];
  return typeof named === 'string' ? named : '';
}
