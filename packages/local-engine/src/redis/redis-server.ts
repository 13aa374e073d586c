import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { EmbeddedError } from '../errors.ts';
import type { KeptService } from '../keeper-client.ts';
import { keepRunning, logFile } from '../launch.ts';
import type { Launch } from '../launch.ts';
import { newPassword } from '../passwords.ts';
import { asServiceUser, diesWithParent } from '../process/guarded-command.ts';
import { readSince, sizeOf } from '../process/log-tail.ts';
import { writeOwnFile } from '../process/own-file.ts';
import { serviceFolder } from '../process/service-folder.ts';
import { HERE, SERVICE_UIDS } from '../process/service-user.ts';
import type { RedisChoice } from './choose-redis.ts';

/** A running Redis that can be taken down and brought back, for tests of failures. */
export interface RedisControl {
  readonly url: string;
  /** Of the process that runs now. */
  readonly pid: number;
  /** Kills it (SIGKILL) and waits until it is gone. */
  kill(): Promise<void>;
  /** Stops it if it runs, and starts it again on the same socket with the same data. */
  restart(): Promise<void>;
}

const START_WITHIN_MS = 30_000;
const FOLDER = 'redis';
const SOCKET = 'redis.sock';
const CONFIGURATION = 'redis.conf';

/**
 * Starts a Redis on a socket in its folder. `durable`: each write is in the append-only file within a second. `fast`:
 * nothing is kept.
 */
export async function startRedis(launch: Launch, { kind, binary }: RedisChoice): Promise<RedisControl> {
  launch.onEvent({ step: 'start', message: `Starting ${binary}` });
  const data = join(launch.dataDir, FOLDER);
  await serviceFolder(data, SERVICE_UIDS.redis, launch);
  const log = logFile(launch, 'redis');
  const password = newPassword();
  const socket = join(launch.shortDataDir, FOLDER, SOCKET);
  const program = { command: binary, args: [`${HERE}/${CONFIGURATION}`] };
  const guarded = diesWithParent(program, 'TERM', launch.path);
  writeConfiguration(data, password, launch.durability);

  async function run(): Promise<KeptService> {
    const from = sizeOf(log);
    const service = await launch.keeper.start({
      name: kind,
      ...asServiceUser(guarded, SERVICE_UIDS.redis, launch.path),
      cwd: data,
      env: { PATH: launch.path },
      log,
      stdout: 'log',
      stopBy: 'SIGTERM',
      stopWithinMs: 5_000,
    });
    if (await isUp(service, socket, password)) {
      keepRunning(service, log, launch.onEvent);
      return service;
    }
    await service.stop();
    const message = `${binary} did not start. Its log (${log}) ends with:\n${readSince(log, from)}`;
    throw new EmbeddedError('START_FAILED', message);
  }

  let service = await run();
  return {
    url: `redis://:${password}@localhost?path=${encodeURIComponent(socket)}`,
    get pid() {
      return service.pid;
    },
    async kill() {
      service.signal('SIGKILL');
      await launch.keeper.hold(() => service.exited);
    },
    async restart() {
      await service.stop();
      service = await run();
    },
  };
}

/** Writes what the server reads at its start, as a command line is for everybody to see. */
function writeConfiguration(data: string, password: string, durability: Launch['durability']): void {
  const settings = {
    port: '0',
    unixsocket: SOCKET,
    unixsocketperm: '700',
    requirepass: password,
    daemonize: 'no',
    save: '',
    appendonly: durability === 'durable' ? 'yes' : 'no',
    appendfsync: 'everysec',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${JSON.stringify(value)}\n`);
  writeOwnFile(join(data, CONFIGURATION), `# Written at every start.\n${lines.join('')}`, statSync(data).uid);
}

/** Waits until it answers, also while it still loads its data; false when it ended or took too long. */
async function isUp(service: KeptService, socket: string, password: string): Promise<boolean> {
  const client = new Redis({
    path: socket,
    password,
    retryStrategy: () => 20,
    // Its own check waits for the data to be loaded before it says that it is ready.
    enableReadyCheck: true,
    lazyConnect: false,
  });
  client.on('error', () => undefined);
  try {
    return await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => {
        resolve(false);
      }, START_WITHIN_MS);
      client.once('ready', () => {
        clearTimeout(timer);
        resolve(true);
      });
      void service.exited.then(() => {
        clearTimeout(timer);
        resolve(false);
      });
    });
  } finally {
    client.disconnect();
  }
}
