import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freePort } from './valkey.ts';

/** A server of NATS with JetStream, to be killed and started again on the same port with what it has stored. */
export interface NatsServer extends AsyncDisposable {
  readonly port: number;
  kill(): Promise<void>;
  start(): Promise<void>;
}

const VERSION = spawnSync('nats-server', ['--version'], { encoding: 'utf8' });
export const HAS_NATS = VERSION.status === 0;
const [, MAJOR = '0', MINOR = '0'] = /v(\d+)\.(\d+)/.exec(VERSION.stdout) ?? [];
/** As docs/events.md asks for: what is acknowledged is on the disk. Older servers do not know it. */
const SYNCED = Number(MAJOR) > 2 || Number(MINOR) >= 10 ? ', sync_interval: always' : '';
/** Behind the name of a test that needs it. */
export const NATS_NOTE = HAS_NATS ? '' : ' (skipped: there is no nats-server on this machine)';

export async function startNats(): Promise<NatsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-nats-'));
  const config = join(folder, 'nats.conf');
  await writeFile(config, `jetstream { store_dir: ${JSON.stringify(folder)}${SYNCED} }\n`);
  const port = await freePort();
  let server: ChildProcess | null = null;
  const kill = async (): Promise<void> => {
    if (server === null) return;
    const gone = once(server, 'exit');
    server.kill('SIGKILL');
    await gone;
    server = null;
  };
  const start = async (): Promise<void> => {
    server = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), '-c', config], { stdio: 'ignore' });
    await expect.poll(() => isOpen(port)).toBe(true);
  };
  await start();
  return {
    ...{ port, kill, start },
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true });
    },
  };
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connectTcp(port, '127.0.0.1');
  try {
    await once(socket, 'data');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
