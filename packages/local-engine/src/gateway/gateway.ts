import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { ClientLogin } from './auth/client-login.ts';
import { makeVerifier } from './auth/scram-server.ts';
import { serveClient } from './client-connection.ts';
import { CursorStore } from './cursors.ts';
import { createEngine, sessionSettings } from './engine.ts';
import type { PostgresAddress } from './postgres/connection.ts';
import { Pool } from './postgres/pool.ts';
import { Statistics } from './statistics.ts';

export interface GatewayOptions {
  readonly postgres: PostgresAddress;
  /** The Unix socket to listen on. Who may reach it is a matter of the folder; what an earlier gateway left there goes. */
  readonly socket: string;
  /** Who may log in. Without it everybody who reaches the socket has the database. */
  readonly credentials?: { readonly user: string; readonly password: string };
  /** Most connections to PostgreSQL. */
  readonly poolSize: number;
  /** How long a command waits for one of them, in milliseconds; default 30,000. */
  readonly poolWaitMs?: number;
  /** How long a command waits for PostgreSQL to come back, in milliseconds; default 5,000. */
  readonly reconnectMs?: number;
  /** Most open cursors; default 1,000. */
  readonly cursorLimit?: number;
  /** An idle cursor is closed after so many milliseconds; default 600,000. */
  readonly cursorIdleMs?: number;
  /** Takes what went wrong with the database or in the gateway itself; the client gets the error, too. */
  readonly onFault?: (fault: Error) => void;
}

const maxClients = 2_000;

/**
 * Lets MongoDB drivers talk to PostgreSQL with the DocumentDB extension. It starts to listen without PostgreSQL;
 * commands wait for it. Rejects when the socket cannot be made. Disposing of it ends all connections; commands under way
 * are not waited for.
 */
export async function startGateway(options: GatewayOptions): Promise<AsyncDisposable> {
  const pool = new Pool({
    address: options.postgres,
    size: options.poolSize,
    waitMs: options.poolWaitMs ?? 30_000,
    reconnectMs: options.reconnectMs ?? 5_000,
    settings: sessionSettings,
  });
  const engine = createEngine(pool);
  const cursors = new CursorStore({
    limit: options.cursorLimit ?? 1_000,
    idleMs: options.cursorIdleMs ?? 600_000,
    discard(ids) {
      const sql = 'SELECT documentdb_api_internal.delete_cursors($1::int8[])';
      // Best effort: what is not freed here the engine frees by age.
      engine.rows({ sql, parameters: [`{${ids.join(',')}}`] }).catch(() => undefined);
    },
  });
  const statistics = new Statistics(engine);
  const onFault = options.onFault ?? (() => undefined);
  const clients = new Set<Socket>();
  const { credentials } = options;
  const verifier = credentials && makeVerifier(credentials.user, credentials.password);
  const startedAt = performance.now();
  let connectionId = 0;
  const server = createServer((socket) => {
    connectionId += 1;
    clients.add(socket);
    socket.once('close', () => clients.delete(socket));
    const countClients = (): number => clients.size;
    const login = new ClientLogin(verifier);
    const shared = { engine, cursors, statistics, countClients, startedAt, onFault };
    serveClient(socket, { ...shared, connectionId, login });
  });
  server.maxConnections = maxClients;
  await listen(server, options);
  return {
    async [Symbol.asyncDispose]() {
      cursors.close();
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of clients) socket.destroy();
      await Promise.all([closed, pool.close()]);
    },
  };
}

function listen(server: Server, { socket }: GatewayOptions): Promise<void> {
  rmSync(socket, { force: true });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
