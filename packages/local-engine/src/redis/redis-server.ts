import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { EmbeddedError } from '../errors.ts';
import type { KeptService } from '../keeper-client.ts';
import { keepRunning, logFile } from '../launch.ts';
import type { Launch } from '../launch.ts';
import { keptPassword } from '../passwords.ts';
import { freePort } from '../process/free-port.ts';
import { diesWithParent } from '../process/guarded-command.ts';
import { readSince, sizeOf } from '../process/log-tail.ts';
import { writeOwnFile } from '../process/own-file.ts';
import type { RedisChoice } from './choose-redis.ts';

/** A running Redis that can be taken down and brought back, for tests of failures. */
export interface RedisControl {
  readonly url: string;
  readonly port: number;
  /** Of the process that runs now. */
  readonly pid: number;
  /** Kills it (SIGKILL) and waits until it is gone. */
  kill(): Promise<void>;
  /** Stops it if it runs, and starts it again on the same port with the same data. */
  restart(): Promise<void>;
}

const START_WITHIN_MS = 30_000;
const ATTEMPTS = 5;
/** How long ours may take to notice that its port is taken, in milliseconds. */
const OTHER_WITHIN_MS = 2_000;

/**
 * Starts a Redis on a loopback port. `durable`: each write is in the append-only file within a second. `fast`: nothing
 * is kept.
 * @param wanted the port; default: any free one.
 */
export async function startRedis(
  launch: Launch,
  { kind, binary }: RedisChoice,
  wanted?: number,
): Promise<RedisControl> {
  launch.onEvent({ step: 'start', message: `Starting ${binary}` });
  const data = join(launch.dataDir, 'redis');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const log = logFile(launch, 'redis');
  const password = keptPassword(launch.dataDir, 'redis');

  async function run(port: number): Promise<KeptService> {
    const args = [writeConfiguration({ port, data, password, durability: launch.durability })];
    const from = sizeOf(log);
    const command = diesWithParent({ command: binary, args }, 'TERM', launch.path);
    const service = await launch.keeper.start({
      name: kind,
      ...command,
      cwd: data,
      env: { PATH: launch.path },
      log,
      stdout: 'log',
      stopBy: 'SIGTERM',
      stopWithinMs: 5_000,
    });
    if (await isUp(service, { port, data, password })) {
      keepRunning(service, command.args, log, launch.onEvent);
      return service;
    }
    await service.stop();
    const said = readSince(log, from);
    const message = `${binary} did not start. Its log (${log}) ends with:\n${said}`;
    throw new StartFailure(message, /Address already in use/i.test(said));
  }

  async function firstRun(): Promise<{ service: KeptService; port: number }> {
    for (let attempt = 1; ; attempt++) {
      const port = wanted ?? (await freePort());
      try {
        return { service: await run(port), port };
      } catch (error) {
        const retry =
          error instanceof StartFailure && error.portTaken && wanted === undefined && attempt < ATTEMPTS;
        if (!retry) throw error;
      }
    }
  }

  const first = await firstRun();
  const { port } = first;
  let { service } = first;
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    port,
    get pid() {
      return service.pid;
    },
    async kill() {
      service.signal('SIGKILL');
      await launch.keeper.hold(() => service.exited);
    },
    async restart() {
      await service.stop();
      service = await run(port);
    },
  };
}

class StartFailure extends EmbeddedError {
  readonly portTaken: boolean;

  constructor(message: string, portTaken: boolean) {
    super('START_FAILED', message);
    this.portTaken = portTaken;
  }
}

interface RedisSettings {
  readonly port: number;
  readonly data: string;
  readonly password: string;
  readonly durability: Launch['durability'];
}

/** Writes what the server reads at its start, as a command line is for everybody to see; gives back the file. */
function writeConfiguration({ port, data, password, durability }: RedisSettings): string {
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    'protected-mode': 'yes',
    requirepass: password,
    dir: data,
    daemonize: 'no',
    save: '',
    appendonly: durability === 'durable' ? 'yes' : 'no',
    appendfsync: 'everysec',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${JSON.stringify(value)}\n`);
  const file = join(data, 'redis.conf');
  writeOwnFile(file, `# Written at every start.\n${lines.join('')}`);
  return file;
}

/**
 * Waits until it answers, also while it still loads its data; false when it ended or took too long, or when it is
 * another one that took the port.
 */
async function isUp(
  service: KeptService,
  { port, data, password }: Omit<RedisSettings, 'durability'>,
): Promise<boolean> {
  const client = new Redis({
    host: '127.0.0.1',
    port,
    password,
    retryStrategy: () => 20,
    // Its own check waits for the data to be loaded before it says that it is ready.
    enableReadyCheck: true,
    lazyConnect: false,
  });
  client.on('error', () => undefined);
  try {
    const isReady = await new Promise<boolean>((resolve) => {
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
    if (!isReady) return false;
    if (String(await client.call('CONFIG', 'GET', 'dir')).includes(realpathSync(data))) return true;
    await Promise.race([service.exited, delay(OTHER_WITHIN_MS)]);
    return false;
  } finally {
    client.disconnect();
  }
}
