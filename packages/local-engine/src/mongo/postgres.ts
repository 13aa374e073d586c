import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedError, reasonOf } from '../errors.ts';
import { PostgresConnection, type PostgresAddress } from '../gateway/postgres/connection.ts';
import { ConnectionLost, StatementError } from '../gateway/postgres/errors.ts';
import type { KeptService } from '../keeper-client.ts';
import { keepRunning, logFile } from '../launch.ts';
import type { Launch } from '../launch.ts';
import { GATEWAY_USER, newPassword, superuserPassword } from '../passwords.ts';
import { asServiceUser, diesWithParent } from '../process/guarded-command.ts';
import { readSince, sizeOf } from '../process/log-tail.ts';
import { endOrphans } from '../process/orphans.ts';
import { writeOwnFile } from '../process/own-file.ts';
import { HERE, SERVICE_UIDS } from '../process/service-user.ts';
import { POSTGRES_BIN } from '../tree/recipe.ts';
import { openCluster } from './cluster.ts';
import { setUpCluster } from './cluster-setup.ts';
import { PASSWORDS_FILE, POSTGRES_PORT, writeConfiguration } from './postgres-settings.ts';

const START_WITHIN_MS = 60_000;
const ATTEMPTS = 5;
/** How the command lines of the server's children begin: `postgres: checkpointer`. */
const CHILDREN = 'postgres: ';
const SOCKET = `.s.PGSQL.${String(POSTGRES_PORT)}`;
const SUPERUSER = 'postgres';
const WRONG_PASSWORD = '28P01';
/**
 * Each statement frees what it took. By default the C library gives blocks from 128 kB and the top of the heap back to the
 * system, and the next statement waits for every page of them again: half of the time of an answer with some hundred documents.
 */
const KEPT_MEMORY = { MALLOC_MMAP_THRESHOLD_: '8388608', MALLOC_TRIM_THRESHOLD_: '16777216' };
const STARTING_UP = '57P03';

/**
 * Starts PostgreSQL with the data in `name`, a folder in DATA_DIR that is made from the tree's template if it is not there.
 * Gives back how the gateway reaches it.
 */
export async function startPostgres(
  launch: Launch,
  tree: string,
  name: string,
): Promise<PostgresAddress & { readonly password: string }> {
  const { data, templatePassword } = await openCluster(launch, tree, join(launch.dataDir, name));
  const own = superuserPassword(launch.dataDir);
  const password = newPassword();
  writeConfiguration(data, launch.durability);
  writePasswords(data, { [SUPERUSER]: own, [GATEWAY_USER]: password });
  const log = logFile(launch, 'postgres');
  const program = { command: join(tree, POSTGRES_BIN, 'postgres'), args: ['-D', HERE] };
  const guarded = diesWithParent(program, 'INT', launch.path);
  await endOrphans(CHILDREN, data);
  // Nobody else is in the folder: whatever has the number in this file now is no PostgreSQL.
  rmSync(join(data, `${SOCKET}.lock`), { force: true });
  const place = { host: join(launch.shortDataDir, name, 'data'), port: POSTGRES_PORT, database: 'postgres' };
  for (let attempt = 1; ; attempt++) {
    const from = sizeOf(log);
    const service = await launch.keeper.start({
      name: 'postgres',
      ...asServiceUser(guarded, SERVICE_UIDS.postgres, launch.path),
      orphans: CHILDREN,
      cwd: data,
      env: { PATH: launch.path, PGPASSFILE: `${HERE}/${PASSWORDS_FILE}`, ...KEPT_MEMORY },
      log,
      stdout: 'log',
      stopBy: 'SIGINT',
      stopWithinMs: 5_000,
    });
    const session = await logIn(service, { ...place, user: SUPERUSER }, [own, templatePassword]);
    if (session !== null) {
      await setUpCluster(session, { [SUPERUSER]: own, [GATEWAY_USER]: password });
      keepRunning(service, log, launch.onEvent);
      return { ...place, user: GATEWAY_USER, password };
    }
    const said = readSince(log, from);
    if (attempt === ATTEMPTS || !(await clearedTheWay(said, data))) {
      throw new EmbeddedError(
        'START_FAILED',
        `The local PostgreSQL did not start. Its log (${log}) ends with:\n${said}`,
      );
    }
  }
}

/** For the connections of the extensions, which libpq makes. It reads no file that others may read. */
function writePasswords(data: string, passwords: Readonly<Record<string, string>>): void {
  const lines = Object.entries(passwords).map(([role, password]) => `*:*:*:${role}:${password}\n`);
  writeOwnFile(join(data, PASSWORDS_FILE), lines.join(''), statSync(data).uid);
}

/** Waits until the server takes a connection; null when it ended instead. */
async function logIn(
  service: KeptService,
  address: PostgresAddress,
  passwords: readonly string[],
): Promise<PostgresConnection | null> {
  let isOver = false;
  void service.exited.then(() => (isOver = true));
  const hasEnded = (): boolean => isOver;
  const deadline = performance.now() + START_WITHIN_MS;
  for (;;) {
    if (hasEnded()) return null;
    try {
      return await connect(address, passwords);
    } catch (error) {
      if (!isNotReady(error) || performance.now() > deadline) {
        await service.stop();
        const why = `The local PostgreSQL does not answer: ${reasonOf(error)}`;
        throw new EmbeddedError('START_FAILED', why, { cause: error });
      }
    }
    await delay(15);
  }
}

/** With the first of the passwords that is right. A new cluster has that of its template. */
async function connect(
  address: PostgresAddress,
  [password = '', ...others]: readonly string[],
): Promise<PostgresConnection> {
  try {
    return await PostgresConnection.connect({ ...address, password });
  } catch (error) {
    if (others.length === 0 || !hasState(error, WRONG_PASSWORD)) throw error;
    return await connect(address, others);
  }
}

function isNotReady(error: unknown): boolean {
  return error instanceof ConnectionLost || hasState(error, STARTING_UP);
}

function hasState(error: unknown, state: string): boolean {
  return error instanceof StatementError && error.sqlstate === state;
}

/** Whether the reason why the server did not start has gone, so that another attempt makes sense. */
async function clearedTheWay(said: string, data: string): Promise<boolean> {
  if (said.includes('pre-existing shared memory block')) {
    // Processes of a killed server are still on their way out.
    await delay(500);
    return true;
  }
  const file = join(data, 'postmaster.pid');
  if (!/lock file .*already exists/.test(said) || !existsSync(file)) return false;
  // After a crash the number in it may belong to another program by now, which PostgreSQL cannot tell.
  const pid = readFileSync(file, 'utf8').split('\n')[0] ?? '';
  if (workplaceOf(pid) === realpathSync(data)) return false;
  rmSync(file);
  return true;
}

function workplaceOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null; // It has ended meanwhile.
  }
}
