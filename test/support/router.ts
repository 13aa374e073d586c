import { createServer, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { BSON, type Document } from 'mongodb';
import { placeOf, through } from '../integration/realtime/tcp-proxy.ts';
import { FrameReader } from '../../packages/local-engine/src/gateway/wire/frames.ts';
import { replyHead } from '../../packages/local-engine/src/gateway/wire/reply.ts';
import { readRequest, type Request } from '../../packages/local-engine/src/gateway/wire/request.ts';

/** Speaks as the router of a sharded database does, before the run's engine, which stores what there is. */
export interface Router extends AsyncDisposable {
  readonly uri: string;
  /** By what each namespace is sharded. */
  readonly sharded: Map<string, Document>;
  /** Cluster parameters that were set; `null`: a version that has none. */
  parameters: Document | null;
}

/** @param uri of the engine behind it */
export async function startRouter(uri: string): Promise<Router> {
  const sharded = new Map<string, Document>();
  const double = await startServerDouble(uri, (command, { db }) =>
    Promise.resolve(parametersSet(command) ?? routerAnswer(command, db, sharded)),
  );
  const router: Router = { ...double, sharded, parameters: {} };
  function parametersSet(command: Document): Document | null {
    if (!('setClusterParameter' in command)) return null;
    if (router.parameters === null)
      return { ok: 0, code: 59, codeName: 'CommandNotFound', errmsg: 'no such command' };
    Object.assign(router.parameters, command['setClusterParameter']);
    return {};
  }
  return router;
}

/**
 * A server that answers some commands as MongoDB documents it, and has the run's engine answer all others.
 * @param uri of the engine behind it
 * @param answer to a command, whose name is its first field; `null`: the engine is to answer, `undefined`: nobody does
 */
export async function startServerDouble(
  uri: string,
  answer: (command: Document, request: Request) => Promise<Document | null | undefined>,
): Promise<Pick<Router, 'uri' | typeof Symbol.asyncDispose>> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const behind = connect(placeOf(uri));
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket
        .on('error', () => client.destroy())
        .on('close', () => [client, behind].map((end) => end.destroy()));
    }
    behind.pipe(client);
    const frames = new FrameReader();
    const take = async (frame: Buffer): Promise<void> => {
      const request = readRequest(frame);
      const answered = await answer(BSON.deserialize(request.body.bytes), request);
      if (answered === null) behind.write(frame);
      else if (answered !== undefined) {
        const bytes = BSON.serialize({ ok: 1, ...answered });
        client.write(Buffer.concat([replyHead(request, bytes.length, 1), bytes]));
      }
    };
    client.on('data', (chunk: Buffer) => {
      for (const frame of frames.push(chunk)) take(frame).catch(() => client.destroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The router has no port');
  return {
    uri: through(uri, address),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What a server of the present says of itself. */
export const HELLO = {
  ...{ helloOk: true, isWritablePrimary: true, ismaster: true },
  ...{ maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 25_000 },
  ...{ minWireVersion: 0, maxWireVersion: 21 },
};

export const isHello = (command: Document): boolean =>
  ['hello', 'isMaster', 'ismaster'].some((name) => name in command);

function routerAnswer(command: Document, db: string, sharded: Map<string, Document>): Document | null {
  if (isHello(command)) return { ...HELLO, msg: 'isdbgrid', localTime: new Date() };
  if ('shardCollection' in command) {
    sharded.set(String(command['shardCollection']), command['key'] as Document);
    return { collectionsharded: command['shardCollection'] as string };
  }
  if (!('find' in command) || db !== 'config') return null;
  const { _id } = command['filter'] as { readonly _id: string };
  const key = sharded.get(_id);
  const firstBatch = key === undefined ? [] : [{ _id, key }];
  return { cursor: { id: BSON.Long.ZERO, ns: 'config.collections', firstBatch } };
}
