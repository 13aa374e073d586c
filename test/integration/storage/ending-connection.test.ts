import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { expect, inject, onTestFinished, test } from 'vitest';
import { isDatabaseUnavailable } from '../../../src/storage/database/errors.ts';
import { connectDatabase } from '../../../src/app/collections.ts';
import type { Database } from '../../../src/storage/database/mongo.ts';
import { testDatabase } from '../../support/engine.ts';
import { startTcpProxy, through } from '../realtime/tcp-proxy.ts';

/** The driver looks at the server so often; more often is not allowed. */
const LOOKS_EVERY_MS = 500;

/** With the sockets of this database's connections, as they are made. */
async function databaseWithSockets(
  uri = inject('mongodbUri'),
): Promise<{ database: Database; sockets: readonly Socket[] }> {
  const spare = await testDatabase();
  onTestFinished(() => spare[Symbol.asyncDispose]());
  const sockets: Socket[] = [];
  const keep = (message: unknown): void => {
    sockets.push((message as { readonly socket: Socket }).socket);
  };
  subscribe('net.client.socket', keep);
  onTestFinished(() => void unsubscribe('net.client.socket', keep));
  const address = new URL(uri);
  address.searchParams.set('heartbeatFrequencyMS', String(LOOKS_EVERY_MS));
  const database = await connectDatabase({ uri: address.href, db: spare.name, maxPoolSize: 2 });
  onTestFinished(() => database.close());
  await database.ping();
  return { database, sockets };
}

test('a command that is sent while its socket is being closed ends, and the next succeeds', async () => {
  const { database, sockets } = await databaseWithSockets();
  sockets.forEach((socket) => socket.destroy());
  await expect(database.db.collection('any').insertOne({})).rejects.toThrow(/closed/);
  await database.db.command({ ping: 1 });
});

test('a write whose socket breaks before it is complete is retried, or reported as a lost connection', async () => {
  const uri = inject('mongodbUri');
  await using proxy = await startTcpProxy(uri);
  const { database, sockets } = await databaseWithSockets(through(uri, proxy));
  const waiting = (): Socket[] =>
    sockets.filter((socket) => socket.remotePort === proxy.port && socket.writableNeedDrain);
  const collection = database.db.collection('any');
  const large = 'x'.repeat(12 * 1024 * 1024);
  const broken = Object.assign(new Error('This socket has been ended by the other party'), { code: 'EPIPE' });
  const outcomes = [];
  for (const write of [() => collection.insertMany([{ large }]), () => collection.insertOne({ large })]) {
    const answers = (): Promise<boolean> =>
      database.ping().then(
        () => true,
        () => false,
      );
    await expect.poll(answers).toBe(true);
    // Nobody reads: the socket has more to send than the system takes.
    proxy.freeze();
    const outcome = write().then(
      () => 'written',
      (error: unknown) => (isDatabaseUnavailable(error) ? 'unavailable' : error),
    );
    await expect.poll(() => waiting().length).toBeGreaterThan(0);
    proxy.heal();
    waiting().forEach((socket) => socket.destroy(broken));
    // Those on which the driver looks at the server have gone dead too.
    sockets.forEach((socket) => socket.destroy());
    outcomes.push(await outcome);
  }
  expect(outcomes.filter((outcome) => outcome !== 'written' && outcome !== 'unavailable')).toEqual([]);
});

test('the driver finds a server again that it checked while the socket was being closed', async () => {
  const { database, sockets } = await databaseWithSockets();
  const { client } = database.db;
  const failed = new Promise<string>((resolve) => {
    client.once('serverHeartbeatFailed', ({ failure }) => {
      resolve(failure.message);
    });
  });
  client.once('serverHeartbeatStarted', () => {
    sockets.forEach((socket) => socket.destroy());
  });
  await expect(failed).resolves.toMatch(/closed/);
  await database.db.command({ ping: 1 });
});

test('a client that never got a response leaves no socket open', async () => {
  const uri = inject('mongodbUri');
  await using proxy = await startTcpProxy(uri);
  proxy.freeze();
  const sockets: Socket[] = [];
  const keep = (message: unknown): void => {
    sockets.push((message as { readonly socket: Socket }).socket);
  };
  subscribe('net.client.socket', keep);
  onTestFinished(() => void unsubscribe('net.client.socket', keep));
  const connecting = connectDatabase({ uri: through(uri, proxy), db: 'any', serverSelectionTimeoutMs: 500 });
  await expect(connecting).rejects.toThrow(/timed out/);
  expect(sockets.filter(({ remotePort }) => remotePort === proxy.port)).not.toEqual([]);
  expect(sockets.filter(({ destroyed }) => !destroyed)).toEqual([]);
});
