import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { EmbeddedError, reasonOf } from '../errors.ts';
import type { KeptService } from '../keeper-client.ts';
import { keepRunning, logFile } from '../launch.ts';
import type { Launch } from '../launch.ts';
import { freePort } from '../process/free-port.ts';
import { diesWithParent } from '../process/guarded-command.ts';
import { readSince, sizeOf } from '../process/log-tail.ts';
import { waitUntil } from '../process/wait-until.ts';

/** The folder of mongod's data in DATA_DIR. */
export const MONGOD_FOLDER = 'mongod';

const START_WITHIN_MS = 60_000;
const ATTEMPTS = 5;

/** Starts a mongod with its data in DATA_DIR, on a free loopback port; gives back its URI. */
export async function startMongod(launch: Launch, binary: string): Promise<string> {
  launch.onEvent({ step: 'start', message: `Starting ${binary}` });
  const data = join(launch.dataDir, MONGOD_FOLDER);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const log = logFile(launch, 'mongod');
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const args = ['--dbpath', data, '--bind_ip', '127.0.0.1', '--port', String(port), '--quiet'];
    const from = sizeOf(log);
    const command = diesWithParent({ command: binary, args }, 'TERM', launch.path);
    const service = await launch.keeper.start({
      name: 'mongod',
      ...command,
      cwd: data,
      env: { PATH: launch.path },
      log,
      stdout: 'log',
      stopBy: 'SIGTERM',
      stopWithinMs: 8_000,
    });
    const uri = `mongodb://127.0.0.1:${port}/?directConnection=true`;
    if (await isUp(service, port, uri)) {
      keepRunning(service, command.args, log, launch.onEvent);
      return uri;
    }
    await service.stop();
    const said = readSince(log, from);
    // 48 is its exit code for "address in use".
    const portTaken = (await service.exited).code === 48 || said.includes('Address already in use');
    if (attempt === ATTEMPTS || !portTaken) {
      throw new EmbeddedError(
        'START_FAILED',
        `${binary} did not start. Its log (${log}) ends with:\n${said}`,
      );
    }
  }
}

async function isUp(service: KeptService, port: number, uri: string): Promise<boolean> {
  const state = { ended: false };
  void service.exited.then(() => (state.ended = true));
  const listens = await waitUntil(async () => state.ended || (await accepts(port)), START_WITHIN_MS);
  if (!listens || state.ended) return false;
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: START_WITHIN_MS });
  try {
    await client.db('admin').command({ ping: 1 });
    return true;
  } catch (error) {
    throw new EmbeddedError('START_FAILED', `The local mongod does not answer: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    await client.close();
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const finish = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => {
      finish(true);
    });
    socket.once('error', () => {
      finish(false);
    });
  });
}
