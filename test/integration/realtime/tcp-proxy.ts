import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from 'node:net';

/** A wire between a client and a server that can be cut or go dead. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Closes all connections and takes no new ones. */
  cut(): void;
  /** Leaves all connections open, takes new ones, and passes nothing on. */
  freeze(): void;
  /** Passes on what clients send, and none of the answers. */
  mute(): void;
  /** Passes on what clients send, and of the answers of each connection five bytes in a second. */
  trickle(): void;
  /** New connections work again; frozen and muted ones stay dead, and trickling ones slow. */
  heal(): void;
}

/** @param target the URL, or the port, where connections lead; a function is asked for every one */
export async function startTcpProxy(target: string | (() => string | number)): Promise<TcpProxy> {
  let mode: 'pass' | 'cut' | 'freeze' | 'mute' | 'trickle' = 'pass';
  const sockets = new Set<Socket>();
  /** Where the answers of each connection go. */
  const answering = new Map<Socket, Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // The other half ends with it; what went wrong is the tested side's to notice.
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((near) => {
    keep(near);
    if (mode === 'cut') near.destroy();
    if (mode === 'cut' || mode === 'freeze') return;
    const far = connect(placeOf(typeof target === 'string' ? target : target()));
    keep(far);
    near.pipe(far);
    if (mode === 'pass') far.pipe(near);
    if (mode === 'trickle') trickle(far, near);
    answering.set(far, near);
    far.on('close', () => answering.delete(far));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      mode = 'cut';
      for (const socket of sockets) socket.destroy();
    },
    freeze: () => {
      mode = 'freeze';
      for (const socket of sockets) socket.unpipe().pause();
    },
    mute: () => {
      mode = 'mute';
      for (const far of answering.keys()) far.unpipe();
    },
    trickle: () => {
      mode = 'trickle';
      for (const [far, near] of answering) trickle(far.unpipe(), near);
    },
    heal: () => {
      mode = 'pass';
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const BYTE_EVERY_MS = 200;

function trickle(from: Socket, to: Socket): void {
  const waiting: Buffer[] = [];
  from.on('data', (chunk: Buffer) => waiting.push(...Array.from(chunk, (byte) => Buffer.of(byte))));
  const drops = setInterval(() => {
    const next = waiting.shift();
    if (next !== undefined) to.write(next);
  }, BYTE_EVERY_MS);
  to.on('close', () => {
    clearInterval(drops);
  });
}

/** Where the server of a URL listens: local databases at a socket, in the ways of their clients. */
export function placeOf(url: string | number): NetConnectOpts {
  if (typeof url === 'number') return { host: '127.0.0.1', port: url };
  const { hostname, port, searchParams } = new URL(url);
  const path = searchParams.get('path') ?? decodeURIComponent(hostname);
  return path.startsWith('/') ? { path } : { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** The same server, user and password through a proxy. */
export function through(url: string, proxy: Pick<TcpProxy, 'port'>): string {
  const address = new URL(url);
  address.searchParams.delete('path');
  // The members of a replica set would be found, and reached without the proxy.
  if (address.searchParams.has('replicaSet')) {
    address.searchParams.delete('replicaSet');
    address.searchParams.set('directConnection', 'true');
  }
  address.hostname = '127.0.0.1';
  address.port = String(proxy.port);
  return address.toString();
}
