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

/** What a double answers: a document or its bytes; `null`: the engine is to answer, `undefined`: nobody does. */
export type Answer = (
  command: Document,
  request: Request,
  /** Has the engine answer, and gives the document of its answer. */
  engine: () => Promise<Buffer>,
) => Promise<Document | Buffer | null | undefined>;

/**
 * A server that answers some commands as MongoDB documents it, and has the run's engine answer all others.
 * @param uri of the engine behind it
 * @param answer to a command, whose name is its first field
 */
export async function startServerDouble(
  uri: string,
  answer: Answer,
): Promise<Pick<Router, 'uri' | typeof Symbol.asyncDispose>> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const behind = connect(placeOf(uri));
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket
        .on('error', () => client.destroy())
        .on('close', () => {
          sockets.delete(socket);
          client.destroy();
          behind.destroy();
        });
    }
    answerAll(client, behind, answer);
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

function answerAll(client: Socket, behind: Socket, answer: Answer): void {
  const awaited = new Map<number, (frame: Buffer) => void>();
  const take = async (frame: Buffer): Promise<void> => {
    const request = readRequest(frame);
    const engine = async (): Promise<Buffer> => {
      const reply = new Promise<Buffer>((resolve) => awaited.set(request.id, resolve));
      behind.write(frame);
      return (await reply).subarray(replyHead(request, 0, 0).length);
    };
    const answered = await answer(BSON.deserialize(request.body.bytes), request, engine);
    if (answered === null) behind.write(frame);
    else if (answered !== undefined) {
      const bytes = Buffer.isBuffer(answered) ? answered : BSON.serialize({ ok: 1, ...answered });
      client.write(Buffer.concat([replyHead(request, bytes.length, 1), bytes]));
    }
  };
  const [asked, answers] = [new FrameReader(), new FrameReader()];
  client.on('data', (chunk: Buffer) => {
    for (const frame of asked.push(chunk)) take(frame).catch(() => client.destroy());
  });
  behind.on('data', (chunk: Buffer) => {
    for (const frame of answers.push(chunk)) {
      const to = frame.readInt32LE(8);
      const wanted = awaited.get(to);
      awaited.delete(to);
      if (wanted === undefined) client.write(frame);
      else wanted(frame);
    }
  });
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
