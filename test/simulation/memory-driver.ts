import { BSON, type Document, MongoClient, ObjectId, MongoNetworkError, MongoServerError } from 'mongodb';
import { plain } from '../support/mingo.ts';
import type { Machine } from './machine.ts';
import { CommandError, unplain } from './memory-server.ts';

/** What a connection does with a command, both as plain values: resolves to the answer, and rejects as the server or the network does. */
export type Send = (command: Document) => Promise<Document>;

/** The part of the driver's operations that a connection uses. */
interface Operation {
  readonly ns: { readonly db: string };
  readonly session: unknown;
  readonly options: { readonly signal?: AbortSignal };
  buildCommand(connection: object, session: unknown): Document;
}

const DESCRIPTION = {
  type: 'RSPrimary',
  address: 'simulation:27017',
  maxWireVersion: 21,
  logicalSessionTimeoutMinutes: 30,
};
const HELLO = {
  isWritablePrimary: true,
  maxWireVersion: 21,
  maxBsonObjectSize: 16_777_216,
  maxWriteBatchSize: 100_000,
};

const CONNECTION = { hello: HELLO, description: DESCRIPTION };

/** What the driver reads of an answer's bytes, without the bytes, which took a tenth of all time. */
class Response {
  readonly ok = 1;
  readonly ns = null;
  /** The constant would tell the driver that it has closed the cursor. */
  readonly id = BSON.Long.fromNumber(0);
  readonly #answer: Document;
  readonly #batch: readonly Document[];
  #next = 0;

  constructor(answer: Document) {
    this.#answer = answer;
    const { firstBatch = [] } = (answer['cursor'] ?? {}) as { readonly firstBatch?: readonly Document[] };
    this.#batch = firstBatch;
  }

  get batchSize(): number {
    return this.#batch.length;
  }

  get length(): number {
    return this.#batch.length - this.#next;
  }

  shift(options?: { readonly raw?: boolean }): unknown {
    if (this.length === 0) return null;
    const document = unplain(this.#batch[this.#next++]) as Document;
    return options?.raw === true ? BSON.serialize(document) : document;
  }

  clear(): void {
    this.#next = this.#batch.length;
  }

  getNumber(name: string): unknown {
    return this.#answer[name];
  }

  toObject(): Document {
    return { ...(unplain(this.#answer) as Document), ok: this.ok };
  }
}

/** The connection was cut before the answer came. */
export function networkError(): MongoNetworkError {
  return new MongoNetworkError('The simulated connection was cut');
}

/**
 * A client of the driver, whole from its methods down to where a server is chosen: there is one that is always known, to which there is
 * always a connection. Neither sockets nor timers.
 */
export function memoryClient(machine: Machine, send: Send): MongoClient {
  const client = new MongoClient('mongodb://simulation/', {
    ignoreUndefined: true,
    pkFactory: { createPk: () => new ObjectId(machine.idBytes()) },
  });
  const server = {
    description: DESCRIPTION,
    async command(operation: Operation): Promise<Response> {
      const command = documentsOf(operation.buildCommand(CONNECTION, operation.session));
      // A copy, as it would cross the wire.
      const answer = await send(plain(command) as Document);
      operation.options.signal?.throwIfAborted();
      return new Response(answer);
    },
  };
  const topology = {
    s: { options: { retryReads: true, retryWrites: true, maxAdaptiveRetries: 2 }, servers: new Map() },
    description: { type: 'ReplicaSetWithPrimary', servers: new Map(), logicalSessionTimeoutMinutes: 30 },
    logicalSessionTimeoutMinutes: 30,
    lastHello: () => HELLO,
    isConnected: () => true,
    selectServer: () => Promise.resolve(server),
    closeCheckedOutConnections: () => undefined,
    close: () => undefined,
  };
  Object.assign(client, { topology });
  return client;
}

/** The driver's error for an answer that is none. */
export function errorOf(error: Error): Error {
  if (!(error instanceof CommandError)) return error;
  return new MongoServerError({
    message: error.message,
    code: error.code,
    errmsg: error.message,
    ok: 0,
    ...(unplain(error.more) as Document),
  });
}

/** Sequences of documents, which travel beside a command, as its fields. */
function documentsOf(command: Document): Document {
  for (const name of ['documents', 'updates', 'deletes']) {
    const given: unknown = command[name];
    if (typeof given === 'object' && given !== null && 'documents' in given)
      return { ...command, [name]: given.documents };
  }
  return command;
}
