import { BSON, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway } from '../../../src/gateway/gateway.ts';
import { freshSocket, hasEngine, ownEngine, uriOf, type OwnEngine } from './own-engine.ts';
import { framed, int32, message, rawClient } from './raw-client.ts';

const suite = test.skipIf(!hasEngine);
let engine: OwnEngine | undefined;
let gateway: AsyncDisposable | undefined;
const socket = freshSocket();

beforeAll(async () => {
  if (!hasEngine) return;
  engine = await ownEngine();
  gateway = await startGateway({ postgres: engine.postgres, socket, poolSize: 4 });
});

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await engine?.[Symbol.asyncDispose]();
});

const ping = { ping: 1, $db: 'admin' };

/** The gateway serves others as if nothing had happened. */
async function expectServing(): Promise<void> {
  using client = await rawClient(socket);
  client.send(message(ping));
  expect((await client.reply()).body).toEqual({ ok: 1 });
}

suite('answers pipelined messages in order, with their ids', async () => {
  using client = await rawClient(socket);
  const slow = { aggregate: 1, pipeline: [{ $documents: [{ n: 1 }] }], cursor: {}, $db: 'wire' };
  client.send(
    message(slow, { id: 11 }),
    message(ping, { id: 12 }),
    message({ nope: 1, $db: 'x' }, { id: 13 }),
    message(ping, { id: 14 }),
  );
  const replies = [await client.reply(), await client.reply(), await client.reply(), await client.reply()];
  expect(replies.map(({ responseTo }) => responseTo)).toEqual([11, 12, 13, 14]);
  expect(replies.map(({ body }) => body['ok'] as number)).toEqual([1, 1, 0, 1]);
  expect(new Set(replies.map(({ requestId }) => requestId)).size).toBe(4);
});

suite('assembles a message from single bytes', async () => {
  using client = await rawClient(socket);
  for (const byte of message(ping, { id: 5 })) client.send(Uint8Array.of(byte));
  expect(await client.reply()).toMatchObject({ responseTo: 5, body: { ok: 1 } });
});

suite('accepts a document sequence, a checksum, and optional flags', async () => {
  using client = await rawClient(socket);
  const insert = { insert: 'c', ordered: true, $db: 'wire_sequence' };
  client.send(
    message(insert, { sequence: ['documents', [{ _id: 1 }, { _id: 2 }]], flags: 1, tail: int32(0) }),
  );
  expect((await client.reply()).body).toMatchObject({ n: 2, ok: 1 });
  client.send(message(ping, { flags: 1 << 16 }));
  expect((await client.reply()).body).toEqual({ ok: 1 });
  client.send(message({ dropDatabase: 1, $db: 'wire_sequence' }));
  await client.reply();
});

suite('sends no reply to a message that requests none', async () => {
  using client = await rawClient(socket);
  client.send(message(ping, { id: 1, flags: 2 }), message(ping, { id: 2 }));
  expect((await client.reply()).responseTo).toBe(2);
});

suite('answers the old handshake with OP_REPLY', async () => {
  using client = await rawClient(socket);
  const content = [
    int32(0),
    Buffer.from('admin.$cmd\0'),
    int32(0),
    int32(-1),
    BSON.serialize({ isMaster: 1, helloOk: true }),
  ];
  client.send(framed(2004, Buffer.concat(content), 7));
  expect(await client.reply()).toMatchObject({
    opcode: 1,
    responseTo: 7,
    body: { ismaster: true, helloOk: true, ok: 1 },
  });
});

const body = Buffer.concat([Buffer.from([0]), BSON.serialize(ping)]);

/** What no client should send; each ends that client's connection and nothing else. */
const malformed: Readonly<Record<string, Uint8Array>> = {
  'a length below the header': framed(2013, Buffer.alloc(0), 1, 15),
  'a negative length': framed(2013, Buffer.alloc(0), 1, -1),
  'a length beyond the limit': framed(2013, Buffer.alloc(0), 1, 48_100_000),
  'the request of a web browser': Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  'a TLS greeting': Buffer.from('160301020001000...', 'hex'),
  'an unknown opcode': framed(2014, body),
  'a compressed message': framed(2012, Buffer.concat([int32(2013), int32(10), Buffer.from([1]), body])),
  'unknown flags that must be understood': framed(2013, Buffer.concat([int32(1 << 5), body])),
  'a message without flags': framed(2013, Buffer.alloc(2)),
  'a message without a body': framed(2013, int32(0)),
  'two bodies': framed(2013, Buffer.concat([int32(0), body, body])),
  'an unknown section': framed(2013, Buffer.concat([int32(0), body, Buffer.from([2, 0])])),
  'a section longer than the message': framed(
    2013,
    Buffer.concat([int32(0), body, Buffer.from([1]), int32(1_000)]),
  ),
  'a section whose name does not end': framed(
    2013,
    Buffer.concat([int32(0), body, Buffer.from([1]), int32(6), Buffer.from('ab')]),
  ),
  'a sequence cut off within a document': framed(
    2013,
    Buffer.concat([int32(0), body, Buffer.from([1]), int32(4 + 2 + 4), Buffer.from('d\0'), int32(64)]),
  ),
  'a document longer than the message': framed(
    2013,
    Buffer.concat([int32(0), Buffer.from([0]), int32(1_000), Buffer.alloc(8)]),
  ),
  'a document with an unknown type': framed(
    2013,
    Buffer.concat([int32(0), Buffer.from([0]), int32(8), Buffer.from([0x44, 0x61, 0, 0])]),
  ),
  'a text longer than its document': framed(
    2013,
    Buffer.concat([
      int32(0),
      Buffer.from([0]),
      int32(14),
      Buffer.from([2, 0x61, 0]),
      int32(100),
      Buffer.from([0, 0, 0]),
    ]),
  ),
  'a command without a database': message({ ping: 1 }),
  'an empty command': message({}),
  'an OP_QUERY of a collection': framed(
    2004,
    Buffer.concat([int32(0), Buffer.from('a.b\0'), int32(0), int32(1), BSON.serialize({ a: 1 })]),
  ),
};

suite.for(Object.entries(malformed))('ends the connection after %s, and serves others', async ([, bytes]) => {
  using client = await rawClient(socket);
  client.send(bytes);
  if (bytes.length < 16) client.socket.end();
  await client.closed;
  await expectServing();
});

suite('survives arbitrary bytes', async () => {
  let seed = 20_240_229;
  const next = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (seed >> 8) % below;
  };
  const original = message(
    { find: 'c', filter: { a: 1, b: [1, 'x'] }, limit: 3, $db: 'wire' },
    { sequence: ['d', [{ a: 1 }]] },
  );
  for (let round = 0; round < 300; round += 1) {
    const bytes = Buffer.from(original);
    for (let change = 0; change <= next(4); change += 1) bytes[next(bytes.length)] = next(256);
    using client = await rawClient(socket);
    client.send(bytes.subarray(0, 1 + next(bytes.length)));
    client.socket.end();
    await client.closed;
  }
  await expectServing();
});

suite('waits for the rest of a message without delaying others', async () => {
  using half = await rawClient(socket);
  const whole = message(ping, { id: 9 });
  half.send(whole.subarray(0, 20));
  await expectServing();
  half.send(whole.subarray(20));
  expect((await half.reply()).responseTo).toBe(9);
});

suite('serves hundreds of clients at once', async () => {
  const clients = await Promise.all(Array.from({ length: 300 }, () => rawClient(socket)));
  for (const client of clients) client.send(message({ count: 'none', $db: 'wire' }));
  const replies = await Promise.all(clients.map((client) => client.reply()));
  expect(replies.every(({ body: reply }) => reply['ok'] === 1)).toBe(true);
  for (const client of clients) client[Symbol.dispose]();
});

suite('stops reading from a client that does not read its replies', async () => {
  await using driver = await MongoClient.connect(uriOf(socket));
  const c = driver.db('wire_slow').collection('c');
  await c.insertOne({ text: 'x'.repeat(200_000) });
  using client = await rawClient(socket);
  client.socket.pause();
  const find = message({ find: 'c', filter: {}, $db: 'wire_slow', comment: 'y'.repeat(100_000) });
  const sent = Array.from({ length: 400 }, () => find);
  client.send(...sent);
  await expectServing();
  // Were everything read, nothing would wait on this side.
  expect(client.socket.writableLength).toBeGreaterThan(0);
  client.socket.resume();
  for (let n = 0; n < 400; n += 1) expect((await client.reply()).body).toMatchObject({ ok: 1 });
  await driver.db('wire_slow').dropDatabase();
});
