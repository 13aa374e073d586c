import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Caller } from '../../../src/http/identity/auth.ts';
import { Connections, type ConnectionLimits } from '../../../src/http/limits/connections.ts';
import { silentLogger } from '../../../src/telemetry/logger.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const MIB = 2 ** 20;
/** More than the system takes for a client that does not read. */
const LONG = Buffer.alloc(12 * MIB);

const server = createServer({ allowHalfOpen: true });
const clients: Socket[] = [];
beforeEach(async () => once(server.listen(0, '127.0.0.1'), 'listening'));
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

function owning(limits: Partial<ConnectionLimits>): Connections {
  return new Connections(
    { maxConnections: 100, maxUnsentBytes: 1_000 * MIB, sendTimeoutMs: PATIENCE_MS, ...limits },
    silentLogger(),
  );
}

/** Both ends of a connection whose client does not read yet. */
async function opened(
  connections: Connections,
): Promise<{ readonly client: Socket; readonly socket: Socket }> {
  const arrived = once(server, 'connection') as Promise<[Socket]>;
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  client.on('error', () => undefined);
  clients.push(client);
  const [socket] = await arrived;
  connections.accept(socket);
  return { client, socket };
}

function callerOf(userId: string, role: 'user' | 'service' = 'user'): Caller {
  return {
    identity: { userId, roles: new Set([role]), expiresAt: null },
    ...{ address: '127.0.0.1', transport: 'http' },
  };
}

test('closes a connection above the limit if none is idle', async () => {
  using connections = owning({ maxConnections: 1 });
  const [first, second] = [await opened(connections), await opened(connections)];
  expect([first, second].map(({ socket }) => socket.destroyed)).toEqual([true, false]);
  connections.upgrade(second.socket);
  const third = await opened(connections);
  expect([second, third].map(({ socket }) => socket.destroyed)).toEqual([false, true]);
});

describe('unread bytes', () => {
  test('end a connection without progress', async () => {
    using connections = owning({ sendTimeoutMs: 100 });
    const { socket } = await opened(connections);
    socket.write(LONG);
    await once(socket, 'close');
  });

  test('do not end a connection with progress, though a single write takes several times as long', async () => {
    using connections = owning({ sendTimeoutMs: 50 });
    const { client, socket } = await opened(connections);
    const size = 64 * MIB;
    let read = 0;
    client.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    socket.end(Buffer.alloc(size));
    await once(client, 'end');
    expect(read).toBe(size);
  });

  test('are limited per user, whose largest answer is dropped', async () => {
    using connections = owning({ maxUnsentBytes: 8 * 24 * MIB });
    const [first, second, other] = [
      await opened(connections),
      await opened(connections),
      await opened(connections),
    ];
    for (const [{ socket }, sub] of [
      [first, 'ann'],
      [second, 'ann'],
      [other, 'bob'],
    ] as const)
      connections.hold(socket, callerOf(sub));
    for (const [{ socket }, size] of [
      [first, 24],
      [other, 24],
      [second, 12],
    ] as const) {
      socket.write(Buffer.alloc(size * MIB));
      connections.wrote(socket);
    }
    expect([first, second, other].map(({ socket }) => socket.destroyed)).toEqual([true, false, false]);
  });

  test('are limited in total, also for services', async () => {
    using connections = owning({ maxUnsentBytes: 26 * MIB });
    const sockets: Socket[] = [];
    for (const sub of ['importer', 'importer', 'exporter', 'exporter']) {
      const { socket } = await opened(connections);
      connections.hold(socket, callerOf(sub, 'service'));
      socket.write(LONG);
      connections.wrote(socket);
      sockets.push(socket);
    }
    expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(2);
  });
});
