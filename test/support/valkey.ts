import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { inject } from 'vitest';
import { PATIENCE_MS } from './patience.ts';

/** A Valkey of its own, to be killed and started again on the same port. Disposing kills it. */
export interface Valkey extends AsyncDisposable {
  readonly port: number;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** One command, on a connection of its own. */
  call(command: string, ...args: (string | number)[]): Promise<unknown>;
}

export interface ValkeyOptions {
  /** For its command line. The port is given already. */
  readonly args?: () => readonly string[];
  /** All of its command line instead, for a sentinel. */
  readonly program?: (folder: string, port: number) => Promise<readonly string[]>;
  /** As clients of it need it. */
  readonly client?: Omit<RedisOptions, 'replyMapping'>;
  /** Whether its port speaks TLS only. Default: no. */
  readonly isTls?: boolean;
}

/** The program of the run's own Redis, as that says; of one on another machine, a Valkey of this one. */
async function binary(): Promise<string> {
  const redis = new Redis(inject('redisUrl'));
  const info = await redis.info('server').finally(() => redis.disconnect());
  const places = [
    /^executable:(.+?)\r?$/m.exec(info)?.[1] ?? '',
    ...(process.env['PATH'] ?? '').split(':').map((folder) => join(folder, 'valkey-server')),
  ];
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error('There is no valkey-server to run clusters of');
  return found;
}

/** Below those that systems give to outgoing connections, of which one could take the port before its server does. */
const PORTS = { from: 10_000, before: 32_000 };

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.before);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}

export async function startValkey({
  args,
  program: own,
  client = {},
  isTls = false,
}: ValkeyOptions = {}): Promise<Valkey> {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-valkey-'));
  const program = await binary();
  const port = await freePort();
  const line = (await own?.(folder, port)) ?? [
    ...(isTls ? ['--port', '0', '--tls-port', String(port)] : ['--port', String(port)]),
    ...['--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'],
    ...(args?.() ?? []),
  ];
  let child: ChildProcess | null = null;
  const open = (): Redis => {
    const redis = new Redis({
      ...{ host: '127.0.0.1', port, lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null },
      ...client,
    });
    redis.on('error', () => undefined);
    return redis;
  };
  const call: Valkey['call'] = async (command, ...rest) => {
    const redis = open();
    try {
      await redis.connect();
      return await redis.call(command, ...rest);
    } finally {
      redis.disconnect();
    }
  };
  const start = async (): Promise<void> => {
    child = spawn(program, line, { stdio: 'ignore' });
    await until(`a Valkey answers on port ${String(port)}`, () => call('PING').then(Boolean, () => false));
  };
  const kill = async (): Promise<void> => {
    if (child === null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    child = null;
    await ended;
  };
  await start();
  return {
    port,
    call,
    start,
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`It did not come to be that ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
