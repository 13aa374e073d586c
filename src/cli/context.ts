import { InvalidArgumentError } from 'commander';
import type { Config } from '../config/config.ts';
import { readConfig } from '../config/read-config.ts';
import type { CommandContext } from '../app/command-shapes.ts';
import type { Identity } from '../domain/viewer.ts';
import { join } from 'node:path';
import { rm } from 'node:fs/promises';
import { NewFile, readOwnFile } from '../lib/own-file.ts';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface RunningServer {
  readonly url: string;
  /** For the user demo with all roles; `null` when the server cannot sign tokens. */
  readonly token: string | null;
}

const FILE = 'server.json';

/** Lets commands on the folder find the server. Of several servers with shared databases the first one is found. */
export async function announceServer(dataDir: string, server: RunningServer): Promise<AsyncDisposable> {
  if ((await findServer(dataDir)) === null) return recordProcess(join(dataDir, FILE), server);
  return { [Symbol.asyncDispose]: () => Promise.resolve() };
}

export function findServer(dataDir: string): Promise<ProcessRecord<RunningServer> | null> {
  return findRecord(join(dataDir, FILE));
}

export const TOKEN = [
  '--token <token>',
  'token for --url; default: one signed with JWT_SECRET or the secret in DATA_DIR',
] as const;
export const TENANT = ['--tenant <name>', 'the tenant, required if TENANT_CLAIM is set'] as const;

/** Parses an option that is a whole number from 1. @param more what else the option takes, for the message */
export function wholeNumber(most = Infinity, more = ''): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(
      `Expected a whole number from 1${most === Infinity ? '' : ` to ${most}`}${more}.`,
    );
  };
}

/** The user of the token printed at start, and with tenants its tenant. */
export const DEMO_USER = 'demo';
export const DEMO_TENANT = 'demo';

/** A user error: the message says what to do, and no stack trace is shown. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** @param options.needsKey whether the command signs or verifies tokens; default true. @throws ConfigError */
export function configOf(context: CommandContext, options: { readonly needsKey?: boolean } = {}): Config {
  return readConfig(context.env, { ...context.brought, ...options });
}

/** A user of commands is an admin, since they have access to the databases. */
export function operatorOf(command: string): Identity {
  return { userId: command, roles: new Set(['admin']), expiresAt: null };
}

/** Information that a Fanfare process gives others on its DATA_DIR. */
type ProcessRecord<T> = T & { readonly process: ProcessIdentity };

/** Writes a record readable only by this user. Disposing removes it, unless another process has replaced it. */
export async function recordProcess(path: string, content: object): Promise<AsyncDisposable> {
  const process = ownIdentity();
  const file = new NewFile(path);
  await file.write(`${JSON.stringify({ ...content, process }, null, 1)}\n`);
  await file.complete();
  return {
    async [Symbol.asyncDispose]() {
      const found = await read(path);
      if (found?.process.pid === process.pid && found.process.started === process.started)
        await rm(path, { force: true });
    },
  };
}

/** The record of a running process; records of dead ones are ignored. */
export async function findRecord<T extends object>(path: string): Promise<ProcessRecord<T> | null> {
  const found = await read(path);
  return found !== null && isAlive(found.process) ? (found as ProcessRecord<T>) : null;
}

async function read(path: string): Promise<{ readonly process: ProcessIdentity } | null> {
  const text = await readOwnFile(path);
  if (text === null) return null;
  try {
    const record = JSON.parse(text) as { readonly process?: ProcessIdentity } | null;
    return record?.process === undefined ? null : { ...record, process: record.process };
  } catch {
    // Modified by somebody else: our records are written atomically.
    return null;
  }
}

/**
 * Distinguishes a process from a later one with the same pid. Duplicated in the local engine, which must stay independent.
 */
interface ProcessIdentity {
  readonly pid: number;
  /** Start time in a unit of the operating system; only compared for equality. */
  readonly started: string;
}

/** Identity of a running process; `null` when there is none. A zombie counts as ended. */
function identify(pid: number): ProcessIdentity | null {
  const started = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return started === null ? null : { pid, started };
}

/** Whether this very process is still running. */
function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

function ownIdentity(): ProcessIdentity {
  const own = identify(process.pid);
  if (own === null) throw new Error(`Process ${process.pid} cannot see itself: is /proc mounted?`);
  return own;
}

function startOnLinux(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // Count fields from the end: the second one is the program name in brackets and may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  if (state === 'Z' || state === 'X') return null;
  // Start times count from boot, so a process of an earlier boot could match without the boot id.
  const boot = readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return `${fields[19] ?? ''}@${boot}`;
}

function startByPs(pid: number): string | null {
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
    return started === '' ? null : started;
  } catch {
    return null; // `ps` says so when there is no such process.
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
