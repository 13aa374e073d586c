import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Environment } from '../harness/environment.ts';
import { startCommand } from './lines.ts';

const GROUP = 'fanfare';
/** One of them starts, the others work. */
const PROCESSES = 4;
const CHUNK = 1_000;

/** Lines on a server of streams, as messages of one stream for each set. */
export interface Streams {
  fill(set: string, lines: Iterable<string>): Promise<void>;
  /** For `fanfare consume`. */
  urlOf(set: string): string;
  /** Messages that the group has not acknowledged, or not been given. */
  open(set: string): Promise<number>;
  delete(set: string): Promise<void>;
}

/** Streams of the run's own Redis. */
export function redisStreams({ redis, redisUrl }: Environment): Streams {
  return {
    async fill(set, lines) {
      for (const chunk of chunksOf(lines)) {
        const pipelined = redis.pipeline();
        for (const line of chunk) pipelined.xadd(set, '*', 'line', line);
        await pipelined.exec();
      }
    },
    urlOf: (set) => redisUrl.replace(/^(rediss?:\/\/[^/?]+)\/?/, `$1/${set}`),
    async open(set) {
      const groups = (await redis.call('XINFO', 'GROUPS', set)) as readonly (readonly unknown[])[];
      const values = (fields: readonly unknown[]) =>
        new Map(fields.flatMap((name, n) => (n % 2 === 0 ? [[String(name), fields[n + 1]] as const] : [])));
      const own = groups.map(values).find((fields) => fields.get('name') === GROUP);
      return own === undefined ? Infinity : Number(own.get('pending')) + Number(own.get('lag'));
    },
    async delete(set) {
      await redis.del(set);
    },
  };
}

function* chunksOf(lines: Iterable<string>): Generator<readonly string[]> {
  let chunk: string[] = [];
  for (const line of lines) {
    chunk.push(line);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  yield chunk;
}

/** `nats-server` is on this machine. */
export const HAS_NATS = spawnSync('nats-server', ['--version']).status === 0;

/** Streams of JetStream, on a server that is started for them. */
export async function startNatsStreams({ folder }: Environment): Promise<Streams & AsyncDisposable> {
  const port = await freePort();
  const at = `127.0.0.1:${String(port)}`;
  const server = spawn(
    'nats-server',
    ['-js', '-sd', join(folder, 'nats'), '-a', '127.0.0.1', '-p', String(port)],
    {
      stdio: 'ignore',
    },
  );
  const exited = once(server, 'exit');
  const connection = await connect({ servers: at, waitOnFirstConnect: true, reconnectTimeWait: 20 });
  const manager = await jetstreamManager(connection);
  const client = jetstream(connection);
  return {
    async fill(set, lines) {
      await manager.streams.add({ name: set, subjects: [set] });
      for (const chunk of chunksOf(lines)) await Promise.all(chunk.map((line) => client.publish(set, line)));
    },
    urlOf: (set) => `nats://${at}/${set}`,
    async open(set) {
      const info = await manager.consumers.info(set, GROUP).catch(() => null);
      return info === null ? Infinity : info.num_pending + info.num_ack_pending;
    },
    async delete(set) {
      await manager.streams.delete(set);
    },
    async [Symbol.asyncDispose]() {
      await connection.close();
      server.kill();
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Consumes what is on a stream, by processes of which one is killed in turn. Returns how many were killed. */
export async function consumeAll(
  { environment, database }: { readonly environment: Environment; readonly database: string },
  [streams, set]: readonly [Streams, string],
  killEveryMs: number | null,
): Promise<number> {
  const start = () => startCommand(['consume', streams.urlOf(set), '--no-worker'], environment, database);
  const processes = Array.from({ length: PROCESSES }, start);
  let kills = 0;
  let killed = { at: Date.now(), open: Infinity };
  for (;;) {
    const open = await streams.open(set);
    if (open === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
    // Were those killed that have done nothing yet, a busy machine would never come to an end.
    if (killEveryMs === null || Date.now() - killed.at < killEveryMs || open >= killed.open) continue;
    killed = { at: Date.now(), open };
    processes[kills % PROCESSES]?.kill('SIGKILL');
    processes[kills % PROCESSES] = start();
    kills += 1;
  }
  const ends = processes.map(async (child) => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await Promise.all(ends);
  return kills;
}
