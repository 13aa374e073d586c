import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
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

export const HAS_NATS = spawnSync('nats-server', ['--version']).status === 0;
/** Behind the name of a test that needs it. */
export const NATS_NOTE = HAS_NATS ? '' : ' (skipped: there is no nats-server on this machine)';

export async function startNats(): Promise<NatsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-nats-'));
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
    server = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', folder], {
      stdio: 'ignore',
    });
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
