import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

export interface FanfareProcess extends AsyncDisposable {
  readonly pid: number;
  /** Everything it has logged so far, one JSON object a line. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  /** The first log line that fits, past or to come. Rejects when the process ends without one. */
  logged(
    fits: (line: Readonly<Record<string, unknown>>) => boolean,
  ): Promise<Readonly<Record<string, unknown>>>;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code; null when a signal ended it. */
  exited(): Promise<number | null>;
}

/** Runs `fanfare`, as the run has built it, as a process of its own. Killed at the end if it still runs. */
export function startFanfare(args: readonly string[], env: Readonly<Record<string, string>>): FanfareProcess {
  const child: ChildProcess = spawn(process.execPath, ['dist/src/main.js', ...args], {
    cwd: PROJECT,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log: Readonly<Record<string, unknown>>[] = [];
  const listeners = new Set<() => void>();
  let hasEnded = false;
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  if (child.stderr === null) throw new Error('No stderr');
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line.startsWith('{') ? (JSON.parse(line) as Record<string, unknown>) : { text: line });
    tell();
  });
  const exit = once(child, 'close').then(([code]) => {
    hasEnded = true;
    tell();
    return code as number | null;
  });
  return {
    pid: child.pid ?? 0,
    log,
    logged: (fits) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = log.find(fits);
          if (found === undefined && !hasEnded) return;
          listeners.delete(look);
          if (found === undefined)
            reject(new Error(`It ended first:\n${log.map((line) => JSON.stringify(line)).join('\n')}`));
          else resolve(found);
        };
        listeners.add(look);
        look();
      }),
    kill: (signal) => void child.kill(signal),
    exited: () => exit,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
