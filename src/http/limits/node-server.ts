import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Connections } from './connections.ts';
import type { HttpLimits } from './limits.ts';

export function createNodeServer(limits: HttpLimits, connections: Connections): Server {
  const server = createServer({
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    // Interval at which Node checks for overdue requests; its default would extend the limit to half a minute.
    connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs) / 2,
  });
  server.on('connection', (socket: Socket) => {
    connections.accept(socket);
  });
  return server;
}

/** Resolves with port and URL. Rejects when the address is not available. */
export function listen(
  server: Server,
  host: string,
  port: number,
): Promise<{ readonly port: number; readonly url: string }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const bound = (server.address() as AddressInfo).port;
      resolve({
        port: bound,
        url: `http://${host.includes(':') ? `[${host}]` : host}:${String(bound)}`,
      });
    });
  });
}
