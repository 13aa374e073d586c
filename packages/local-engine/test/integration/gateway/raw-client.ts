import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';

/** What came back on the wire. */
export interface RawReply {
  readonly requestId: number;
  readonly responseTo: number;
  readonly opcode: number;
  readonly body: Document;
}

/** A client that sends bytes as it likes. */
export interface RawClient extends Disposable {
  readonly socket: Socket;
  send(...parts: readonly Uint8Array[]): void;
  /** The next reply. Rejects when the server ends the connection instead. */
  reply(): Promise<RawReply>;
  /** Resolves when the server has ended the connection. */
  readonly closed: Promise<void>;
}

export async function rawClient(path: string): Promise<RawClient> {
  const socket = createConnection({ path });
  await once(socket, 'connect');
  // A reset is a way of ending the connection, too; `closed` follows it.
  socket.on('error', () => undefined);
  let received = Buffer.alloc(0);
  const replies: RawReply[] = [];
  const waiting: ((reply: RawReply) => void)[] = [];
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 16 && received.length >= received.readInt32LE(0)) {
      const length = received.readInt32LE(0);
      const reply = readReply(received.subarray(0, length));
      received = received.subarray(length);
      const next = waiting.shift();
      if (next === undefined) replies.push(reply);
      else next(reply);
    }
  });
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
  });
  return {
    socket,
    closed,
    send(...parts) {
      socket.write(Buffer.concat(parts));
    },
    reply() {
      const reply = replies.shift();
      if (reply !== undefined) return Promise.resolve(reply);
      return new Promise((resolve, reject) => {
        waiting.push(resolve);
        void closed.then(() => {
          reject(new Error('The server ended the connection'));
        });
      });
    },
    [Symbol.dispose]() {
      socket.destroy();
    },
  };
}

function readReply(message: Buffer): RawReply {
  const opcode = message.readInt32LE(12);
  const body = BSON.deserialize(message.subarray(opcode === 1 ? 36 : 21));
  return { requestId: message.readInt32LE(4), responseTo: message.readInt32LE(8), opcode, body };
}

export interface MessageOptions {
  readonly id?: number;
  readonly flags?: number;
  /** A kind-1 section: its name and documents. */
  readonly sequence?: readonly [string, readonly Document[]];
  /** Behind the sections, such as a checksum. */
  readonly tail?: Uint8Array;
}

/** An OP_MSG. */
export function message(body: Document, { id = 1, flags = 0, sequence, tail }: MessageOptions = {}): Buffer {
  const sections = [Buffer.from([0]), BSON.serialize(body)];
  if (sequence !== undefined) {
    const [name, documents] = sequence;
    const content = Buffer.concat([
      Buffer.from(`${name}\0`),
      ...documents.map((document) => BSON.serialize(document)),
    ]);
    sections.push(Buffer.from([1]), int32(4 + content.length), content);
  }
  return framed(2013, Buffer.concat([int32(flags), ...sections, ...(tail === undefined ? [] : [tail])]), id);
}

/** Any message: header and content. `length` lies about its length. */
export function framed(opcode: number, content: Uint8Array, id = 1, length = 16 + content.length): Buffer {
  return Buffer.concat([int32(length), int32(id), int32(0), int32(opcode), content]);
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
