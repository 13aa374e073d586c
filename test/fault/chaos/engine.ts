import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { RECORD_FILE, type KeeperRecord } from '../../../packages/local-engine/src/keeper-messages.ts';
import { startEmbeddedServices } from '../../../packages/local-engine/src/services.ts';
import { Closer } from '../../../src/lib/closer.ts';
import { testCacheDir } from '../../support/engine.ts';

/** Room for the engine and for what a run writes. */
const DISK_SIZE = '480m';
/** What a disk is filled with: much at a time first. */
const CHUNKS = [4_194_304, 4_096].map((size) => Buffer.alloc(size));

export type Service = 'gateway' | 'postgres' | 'redis';

/** What the processes of a service may be called. Where the database is a mongod, it is its gateway too. */
const PROCESS_NAMES: Readonly<Record<Service, readonly string[]>> = {
  gateway: ['gateway', 'mongod'],
  postgres: ['postgres', 'mongod'],
  redis: ['redis-server', 'valkey-server'],
};

/** The services of one chaos run alone, so that they can be stopped and killed and their disk can be filled. */
export interface ChaosEngine extends AsyncDisposable {
  readonly mongodbUri: string;
  readonly redisUrl: string;
  /** Kills the main process of a service (SIGKILL), which is then started again. False: it is down already. */
  kill(service: Service): boolean;
  /** Redis loses all it has. Rejects where it cannot be reached. */
  emptyRedis(): Promise<void>;
  /** Stops a service where it is (SIGSTOP) until the result is called. Null: it is down. */
  pause(service: Exclude<Service, 'postgres'>): (() => void) | null;
  /** Takes all room on the disk of the services until the result is called. Null: they are not on a disk of their own. */
  readonly fillDisk: (() => () => void) | null;
}

/** Starts a database and a Redis, on a small disk of their own where one may be mounted. */
export async function startChaosEngine(): Promise<ChaosEngine> {
  const closer = new Closer();
  try {
    const folder = mkdtempSync(join(tmpdir(), 'fanfare-chaos-'));
    closer.own(
      undoing(() => {
        rmSync(folder, { recursive: true, force: true });
      }),
    );
    const isMounted = mountDisk(folder);
    if (isMounted)
      closer.own(
        undoing(() => {
          execFileSync('umount', ['--lazy', folder]);
        }),
      );
    const { PATH: path } = process.env;
    const services = closer.own(
      await startEmbeddedServices({
        ...(path === undefined ? {} : { path }),
        dataDir: join(folder, 'data'),
        cacheDir: testCacheDir(),
        // What was acknowledged is there after a kill.
        durability: 'durable',
        onEvent: () => undefined,
      }),
    );
    return {
      mongodbUri: services.mongodbUri,
      redisUrl: services.redisUrl,
      pause(service) {
        const pid = pidOf(join(folder, 'data'), service);
        if (pid === null || !signal(pid, 'SIGSTOP')) return null;
        return () => void signal(pid, 'SIGCONT');
      },
      kill(service) {
        const pid = pidOf(join(folder, 'data'), service);
        return pid !== null && signal(pid, 'SIGKILL');
      },
      async emptyRedis() {
        const redis = new Redis(services.redisUrl, { lazyConnect: true, maxRetriesPerRequest: 0 });
        // The command rejects as well.
        redis.on('error', () => undefined);
        try {
          await redis.flushall();
        } finally {
          redis.disconnect();
        }
      },
      fillDisk: isMounted ? () => fill(folder) : null,
      [Symbol.asyncDispose]: () => closer.close(),
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}

function undoing(undo: () => void): AsyncDisposable {
  return {
    [Symbol.asyncDispose]() {
      undo();
      return Promise.resolve();
    },
  };
}

/** Whether it could be done: it takes root. */
function mountDisk(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_SIZE}`, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function fill(folder: string): () => void {
  const ballast = join(folder, 'ballast');
  const file = openSync(ballast, 'w');
  try {
    for (const chunk of CHUNKS) while (canWrite(file, chunk));
  } finally {
    closeSync(file);
  }
  return () => {
    rmSync(ballast);
  };
}

function canWrite(file: number, chunk: Buffer): boolean {
  try {
    return writeSync(file, chunk) === chunk.length;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}

/** Of the process of a service that runs now; null between two runs. */
function pidOf(dataDir: string, service: Service): number | null {
  const { services } = JSON.parse(readFileSync(join(dataDir, RECORD_FILE), 'utf8')) as KeeperRecord;
  return services.find(({ name }) => PROCESS_NAMES[service].includes(name))?.identity.pid ?? null;
}

/** Whether there was such a process. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}
