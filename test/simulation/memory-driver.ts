import { BSON, type Document, MongoClient, ObjectId, MongoNetworkError, MongoServerError } from 'mongodb';
import type { Machine } from './machine.ts';
import { CommandError } from './memory-server.ts';

/** What a connection does with a command: resolves to the answer, and rejects as the server or the network does. */
export type Send = (command: Document) => Promise<Document>;

/** The part of the driver's operations that a connection uses. */
interface Operation {
  readonly ns: { readonly db: string };
  readonly session: unknown;
  readonly options: { readonly signal?: AbortSignal };
  readonly SERVER_COMMAND_RESPONSE_TYPE: { make(bytes: Uint8Array): unknown };
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
    async command(operation: Operation): Promise<unknown> {
      const connection = { hello: HELLO, description: DESCRIPTION };
      const command = documentsOf(operation.buildCommand(connection, operation.session));
      // As it would cross the wire.
      const answer = await send(BSON.deserialize(BSON.serialize(command, { ignoreUndefined: true })));
      operation.options.signal?.throwIfAborted();
      return operation.SERVER_COMMAND_RESPONSE_TYPE.make(BSON.serialize({ ...answer, ok: 1 }));
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
    ...error.more,
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
