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
}

/** @param uri of the engine behind it */
export async function startRouter(uri: string): Promise<Router> {
  const sharded = new Map<string, Document>();
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
    client.on('data', (chunk: Buffer) => {
      for (const frame of frames.push(chunk)) {
        const request = readRequest(frame);
        const answer = answerOf(request, sharded);
        if (answer === null) behind.write(frame);
        else {
          const bytes = BSON.serialize({ ...answer, ok: 1 });
          client.write(Buffer.concat([replyHead(request, bytes.length, 1), bytes]));
        }
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The router has no port');
  return {
    uri: through(uri, address),
    sharded,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Null: the engine is to answer. */
function answerOf({ name, db, body }: Request, sharded: Map<string, Document>): Document | null {
  const command = BSON.deserialize(body.bytes);
  switch (name) {
    case 'hello':
    case 'isMaster':
    case 'ismaster':
      return {
        ...{ helloOk: true, isWritablePrimary: true, ismaster: true, msg: 'isdbgrid' },
        ...{ maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 25_000 },
        ...{ localTime: new Date(), minWireVersion: 0, maxWireVersion: 21 },
      };
    case 'shardCollection':
      sharded.set(String(command['shardCollection']), command['key'] as Document);
      return { collectionsharded: command['shardCollection'] as string };
    case 'find': {
      if (db !== 'config') return null;
      const { _id } = command['filter'] as { readonly _id: string };
      const key = sharded.get(_id);
      const firstBatch = key === undefined ? [] : [{ _id, key }];
      return { cursor: { id: BSON.Long.ZERO, ns: 'config.collections', firstBatch } };
    }
    default:
      return null;
  }
}
