import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { EmbeddedError } from '../errors.ts';
import type { KeptService } from '../keeper-client.ts';
import { keepRunning, logFile } from '../launch.ts';
import type { Launch } from '../launch.ts';
import { keptPassword } from '../passwords.ts';
import { freePort } from '../process/free-port.ts';
import { SERVICE_UID, asServiceUser, diesWithParent } from '../process/guarded-command.ts';
import { readSince, sizeOf } from '../process/log-tail.ts';
import { endOrphans } from '../process/orphans.ts';
import { POSTGRES_BIN } from '../tree/recipe.ts';
import { openCluster } from './cluster.ts';
import { writeConfiguration } from './postgres-settings.ts';

export interface Postgres {
  readonly service: KeptService;
  readonly port: number;
  readonly password: string;
}

const START_WITHIN_MS = 60_000;
const ATTEMPTS = 5;
/** How the command lines of the server's children begin: `postgres: checkpointer`. */
const CHILDREN = 'postgres: ';
const WRONG_PASSWORD = '28P01';

/** Starts PostgreSQL with the data in `folder`, which is made from the tree's template if it is not there. */
export async function startPostgres(launch: Launch, tree: string, folder: string): Promise<Postgres> {
  const { data, templatePassword } = await openCluster(launch, tree, folder);
  const password = keptPassword(launch.dataDir, 'postgres');
  const log = logFile(launch, 'postgres');
  const program = { command: join(tree, POSTGRES_BIN, 'postgres'), args: ['-D', data] };
  const command = asServiceUser(diesWithParent(program, 'INT', launch.path), SERVICE_UID, launch.path);
  await endOrphans(CHILDREN, data);
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    writeConfiguration(data, { port, durability: launch.durability });
    const from = sizeOf(log);
    const service = await launch.keeper.start({
      name: 'postgres',
      ...command,
      orphans: CHILDREN,
      cwd: data,
      env: { PATH: launch.path, PGPASSWORD: password },
      log,
      stdout: 'log',
      stopBy: 'SIGINT',
      stopWithinMs: 5_000,
    });
    if (await isUp(service, { port, password, templatePassword })) {
      keepRunning(service, command.args, log, launch.onEvent);
      return { service, port, password };
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

interface Address {
  readonly port: number;
  readonly password: string;
  readonly templatePassword: string;
}

/** Waits until the server answers and is set up; false when it ended instead. */
async function isUp(service: KeptService, address: Address): Promise<boolean> {
  let isOver = false;
  void service.exited.then(() => (isOver = true));
  const hasEnded = (): boolean => isOver;
  const deadline = performance.now() + START_WITHIN_MS;
  while (!hasEnded()) {
    try {
      if (await setUp(address)) return true;
    } catch (error) {
      // If ours is gone, this was another program that took the port.
      await Promise.race([service.exited, delay(500)]);
      if (!hasEnded()) throw error;
    }
    if (performance.now() > deadline) {
      await service.stop();
      throw new EmbeddedError(
        'START_FAILED',
        `The local PostgreSQL did not answer within ${START_WITHIN_MS / 1_000} s.`,
      );
    }
    await delay(15);
  }
  return false;
}

/** The extension makes a role its workers log in with, and gives it no password. */
const WITHOUT_PASSWORD = 'WHERE rolcanlogin AND rolpassword IS NULL';
const WITH_LOGIN = 'WHERE rolcanlogin';

/** Of the extensions, those the tree has a newer version of; the one the others need first. */
const OUTDATED = `SELECT name FROM pg_available_extensions
  WHERE installed_version <> default_version AND name LIKE 'documentdb%'
  ORDER BY name = 'documentdb_core' DESC, name = 'documentdb' DESC`;

/**
 * Every two seconds each of these jobs makes a connection of its own, which costs a tenth of a core. The gateway runs them
 * itself where it has something to build, so they are left with what a gateway began and did not end.
 */
const SELDOM = `UPDATE cron.job SET schedule = '* * * * *'
  WHERE jobname LIKE '%index_build_task%' AND schedule <> '* * * * *'`;

/**
 * Sets up the cluster for this start: passwords for the roles of workers, newer versions of the extensions, the port of
 * pg_cron's jobs (it stores the one they were created with) and how often they run. A cluster that still has the password of
 * its template, which others share, gets its own. False when the server does not accept connections yet.
 */
async function setUp(address: Address): Promise<boolean> {
  const session = await logIn(address);
  if (session === null) return false;
  const { client, isOwn } = session;
  const { port, password } = address;
  try {
    const roles = isOwn ? WITHOUT_PASSWORD : WITH_LOGIN;
    for (const role of await names(
      client,
      `SELECT rolname AS name FROM pg_authid ${roles} ORDER BY rolname = 'postgres'`,
    )) {
      const secret = client.escapeLiteral(password);
      await client.query(`ALTER ROLE ${client.escapeIdentifier(role)} PASSWORD ${secret}`);
    }
    for (const extension of await names(client, OUTDATED)) {
      await client.query(`ALTER EXTENSION ${client.escapeIdentifier(extension)} UPDATE`);
    }
    await client.query(`UPDATE cron.job SET nodename = '127.0.0.1', nodeport = $1`, [port]);
    await client.query(SELDOM);
    return true;
  } finally {
    await client.end();
  }
}

/** With the cluster's own password, else with the template's; null when the server takes no connections yet. */
async function logIn(address: Address): Promise<{ client: Client; isOwn: boolean } | null> {
  const { port, password, templatePassword } = address;
  const connect = async (secret: string): Promise<Client> => {
    const at = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' };
    const client = new Client({ ...at, password: secret });
    // The connection may also end between two calls; the next call then fails and says so.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  try {
    return { client: await connect(password), isOwn: true };
  } catch (error) {
    if (isNotReady(error)) return null;
    if (!hasCode(error, WRONG_PASSWORD)) throw error;
    return { client: await connect(templatePassword), isOwn: false };
  }
}

async function names(client: Client, query: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(query);
  return rows.map(({ name }) => name);
}

/** Refused, reset, or (57P03) starting up or recovering. */
function isNotReady(error: unknown): boolean {
  if (['ECONNREFUSED', 'ECONNRESET', '57P03'].some((code) => hasCode(error, code))) return true;
  return error instanceof Error && error.message.startsWith('Connection terminated');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Whether the reason why the server did not start has gone, so that another attempt makes sense. */
async function clearedTheWay(said: string, data: string): Promise<boolean> {
  if (/could not bind|Address already in use/i.test(said)) return true; // Another process took the port.
  if (said.includes('pre-existing shared memory block')) {
    // Processes of a killed server are still on their way out.
    await delay(500);
    return true;
  }
  const file = join(data, 'postmaster.pid');
  if (!/lock file .*already exists/.test(said) || !existsSync(file)) return false;
  // After a crash the number in it may belong to another program by now, which PostgreSQL cannot tell.
  const pid = readFileSync(file, 'utf8').split('\n')[0] ?? '';
  if (commandLine(pid).includes(data)) return false;
  rmSync(file);
  return true;
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // It has ended meanwhile.
  }
}
