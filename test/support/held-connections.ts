import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { makeCertificate } from './certificate.ts';
import { PATIENCE_MS } from './patience.ts';
import { wireBytes } from './wire.ts';

/** A connection spoken byte by byte. Its client keeps its half open, whatever the server does. */
export interface HeldConnection extends Disposable {
  readonly socket: Socket;
  /** Resolves when the server has closed it, with what came back. */
  readonly closed: Promise<string>;
  /** Resolves when what has come back matches. */
  readonly has: (pattern: RegExp) => Promise<void>;
}

/** @param from another address of this machine, such as 127.0.0.2 */
export async function holdConnection(
  port: number,
  bytes: Buffer | string = '',
  { from }: { readonly from?: string } = {},
): Promise<HeldConnection> {
  const local = from === undefined ? {} : { localAddress: from };
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, ...local });
  const held = watch(socket);
  await once(socket, 'connect');
  if (bytes.length > 0) socket.write(bytes);
  return held;
}

function watch(socket: Socket): HeldConnection {
  let text = '';
  let onMore = (): void => undefined;
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    onMore();
  });
  const closed = new Promise<string>((resolve) => {
    // Cut, or ended: a server that is waited for then has not let go of it.
    for (const event of ['error', 'end', 'close'])
      socket.on(event, () => {
        resolve(text);
      });
  });
  return {
    socket,
    closed,
    has: (pattern) =>
      new Promise((resolve, reject) => {
        const overdue = setTimeout(() => {
          reject(new Error(`Expected ${String(pattern)}, got ${text.slice(0, 500)}`));
        }, PATIENCE_MS);
        onMore = () => {
          if (!pattern.test(text)) return;
          clearTimeout(overdue);
          resolve();
        };
        onMore();
      }),
    [Symbol.dispose]() {
      socket.destroy();
    },
  };
}

export const GET_HEALTH = wireBytes({ method: 'GET', path: '/health', headers: { 'content-type': null } });
const HANDSHAKE = {
  ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
  ...{ 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', 'sec-websocket-protocol': 'graphql-transport-ws' },
};

export const upgradeOf = (path: string, headers: Readonly<Record<string, string | null>> = {}): Buffer =>
  wireBytes({ method: 'GET', path, headers: { ...HANDSHAKE, 'content-type': null, ...headers } });

const TYPE = 'fields { name description args { name description } } name description';
/** Its answer has some megabytes, more than the system takes for a client that does not read. */
export const LARGE_QUERY = `{ ${Array.from({ length: 8 }, (_, n) => `a${String(n)}: __schema { types { ${TYPE} } }`).join(' ')} }`;

/** So many requests for it, sent without waiting for an answer. */
export function largeQueries(authorization: string, times: number, accept = 'application/json'): Buffer {
  const body = JSON.stringify({ query: LARGE_QUERY });
  return Buffer.concat(Array<Buffer>(times).fill(wireBytes({ headers: { authorization, accept }, body })));
}

export function streamOf(authorization: string): Buffer {
  return wireBytes({
    headers: { authorization, accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { feedEvents { cursor } }' }),
  });
}

/** Terminates TLS in front of a server, as proxies do, and keeps its half of both connections for as long as it can. */
export async function startTlsProxy(port: number) {
  const certificate = await makeCertificate();
  const { path, args } = certificate;
  const key = args[args.indexOf('--tls-key-file') + 1] ?? '';
  const server = createTlsServer({ cert: readFileSync(path), key: readFileSync(key), allowHalfOpen: true });
  const sockets: Socket[] = [];
  server.on('secureConnection', (client) => {
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(client, upstream);
    client.on('data', (chunk: Buffer) => upstream.write(chunk)).on('error', () => undefined);
    upstream.on('data', (chunk: Buffer) => client.write(chunk)).on('error', () => undefined);
    upstream.on('end', () => client.end()).on('close', () => client.end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    async hold(bytes: Buffer): Promise<HeldConnection> {
      const proxied = (server.address() as AddressInfo).port;
      const socket = connectTls({
        socket: connect({ port: proxied, host: '127.0.0.1', allowHalfOpen: true }),
        host: '127.0.0.1',
        ca: readFileSync(path),
      });
      const held = watch(socket);
      await once(socket, 'secureConnect');
      socket.write(bytes);
      return held;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await certificate[Symbol.asyncDispose]();
    },
  };
}

/** Connections of every kind, each as far as its client brings it. Their clients end nothing and read only what is awaited. */
export async function holdOneOfEach(port: number, authorization: string): Promise<AsyncDisposable> {
  const proxy = await startTlsProxy(port);
  const body = wireBytes({ headers: { authorization }, body: '{"query":"{ __typename }"}' });
  const held = new Map<string, HeldConnection>();
  const open = async (name: string, opening: Promise<HeldConnection>, answer?: RegExp): Promise<void> => {
    const connection = await opening;
    held.set(name, connection);
    if (answer !== undefined) await connection.has(answer);
    connection.socket.pause();
  };
  await open('silent', holdConnection(port));
  await open('half of the headers', holdConnection(port, 'GET /health HTTP/1.1\r\nHost: x\r\n'));
  await open('half of a body', holdConnection(port, body.subarray(0, -5)));
  await open('idle', holdConnection(port, GET_HEALTH), /"ok"/);
  await open('half-open', holdConnection(port, body.subarray(0, -5)));
  held.get('half-open')?.socket.end();
  await open('an answer that is not read', holdConnection(port, largeQueries(authorization, 30)));
  await open('an event stream', holdConnection(port, streamOf(authorization)), /event: next/);
  await open('a socket', holdConnection(port, upgradeOf('/graphql')), /101 Switching/);
  await open('a refused upgrade', holdConnection(port, upgradeOf('/nothing')), /404/);
  await open(
    'an upgrade that is none',
    holdConnection(port, upgradeOf('/graphql', { 'sec-websocket-key': null })),
    /400/,
  );
  await open('idle behind a TLS proxy', proxy.hold(GET_HEALTH), /"ok"/);
  await open('a socket behind a TLS proxy', proxy.hold(upgradeOf('/graphql')), /101 Switching/);
  return {
    async [Symbol.asyncDispose]() {
      for (const connection of held.values()) connection[Symbol.dispose]();
      await proxy[Symbol.asyncDispose]();
    },
  };
}
