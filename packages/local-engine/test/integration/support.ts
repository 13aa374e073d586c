import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { findExecutable } from '../../src/process/executables.ts';
import { waitUntil } from '../../src/process/wait-until.ts';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';

/** The PATH of the run. */
export const PATH = process.env['PATH'] ?? '';

/** Whether there are Debian's tools, without which nothing of the engine's tree can be tested. */
export const isDebian = findExecutable('dpkg', PATH) !== null;

/**
 * A folder of one test that goes with it. It waits for the processes that use it: databases whose owner was killed stop
 * on their own, and what they write until then would keep the folder from being removed.
 */
export function testFolder(): AsyncDisposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'fanfare-embedded-'));
  return {
    path,
    async [Symbol.asyncDispose]() {
      const remaining = await remainingProcesses(path);
      rmSync(path, { recursive: true, force: true });
      if (remaining.length > 0) throw new Error(`Still running: ${remaining.join('; ')}`);
    },
  };
}

/** A PATH with nothing on it but the named programs of the run's own. */
export function pathWithOnly(folder: string, programs: readonly string[]): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const program of programs) {
    const file = findExecutable(program, PATH);
    if (file === null) throw new Error(`${program} is not on PATH`);
    symlinkSync(file, join(bin, program));
  }
  return bin;
}

/** What the engine's tree needs of the host, and no database. */
export const TOOLS = ['apt-get', 'dpkg', 'dpkg-deb', 'setpriv', 'cp', 'chown', 'sync', 'sh'];

/**
 * The running processes that have the text in their command line or in the folder they work in (Redis rewrites its
 * command line): `pid command`.
 */
export function processesNaming(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const command = commandLine(pid);
      return command.includes(text) || workingFolder(pid).includes(text) ? [`${pid} ${command}`] : [];
    });
}

/** Waits until no process names the text; the rest after ten seconds. */
export async function remainingProcesses(text: string): Promise<readonly string[]> {
  await waitUntil(() => processesNaming(text).length === 0, PATIENCE_MS);
  return processesNaming(text);
}

/** A process of the tests that says what it does in lines of JSON. It is killed when disposed. */
export interface Fixture extends AsyncDisposable {
  readonly pid: number;
  /** The first line with that property, also if it has been said already. Rejects if the process ends without. */
  said(property: string): Promise<Readonly<Record<string, string>>>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<void>;
}

/** Runs a file of `fixtures/` in a process group of its own. */
export function runFixture(name: string, args: readonly string[]): Fixture {
  const file = fileURLToPath(new URL(`fixtures/${name}.ts`, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const lines: Readonly<Record<string, string>>[] = [];
  const state = { ended: false };
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      state.ended = true;
      resolve();
    });
  });
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(JSON.parse(line) as Record<string, string>);
    });
  }
  return {
    pid: child.pid ?? 0,
    ended,
    kill: (signal) => child.kill(signal),
    async said(property) {
      const find = () => lines.find((line) => property in line);
      await waitUntil(() => find() !== undefined || state.ended, PATIENCE_MS);
      const line = find();
      if (line === undefined) throw new Error(`Never said ${property}, but: ${JSON.stringify(lines)}`);
      return line;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A connected client that closes when disposed. */
export async function connectMongo(uri: string): Promise<AsyncDisposable & { readonly client: MongoClient }> {
  const client = await MongoClient.connect(uri, { serverSelectionTimeoutMS: 5_000 });
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return ''; // It has ended meanwhile.
  }
}

function workingFolder(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return ''; // It has ended meanwhile, or is none of ours.
  }
}
