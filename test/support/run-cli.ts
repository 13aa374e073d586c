import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PATIENCE_MS } from './patience.ts';

/** What the run has built of the sources, as users have it. */
export const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
/** By its address: a program may run in any folder. */
const WITH_LOADER = ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href];

/** What a command line left behind. */
export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line that runs. Disposing kills it if it still does. */
export interface RunningCli extends AsyncDisposable {
  readonly pid: number;
  /** Resolves with the first match in what it has written to stdout so far or will. */
  stdoutHas(pattern: RegExp): Promise<RegExpExecArray>;
  stderrHas(pattern: RegExp): Promise<RegExpExecArray>;
  signal(signal: NodeJS.Signals): void;
  readonly result: Promise<CliResult>;
}

/**
 * Starts `fanfare` in a process of its own with exactly this environment, besides where programs and caches are.
 * @param main of another build than this one
 */
export function startCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  main = MAIN,
): RunningCli {
  return startNode([main, ...args], env);
}

/** The same for a script of the tests. */
export function startScript(path: string, args: readonly string[]): RunningCli {
  return startNode([...WITH_LOADER, path, ...args], {});
}

function startNode(args: readonly string[], env: Readonly<Record<string, string>>): RunningCli {
  return startCommand(process.execPath, args, { env });
}

/** The same for any program. */
export function startCommand(
  command: string,
  args: readonly string[],
  {
    env,
    ...options
  }: {
    readonly env: Readonly<Record<string, string>>;
    readonly cwd?: string;
    readonly uid?: number;
    readonly gid?: number;
  },
): RunningCli {
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...defined({ PATH, HOME, XDG_CACHE_HOME }), ...env },
    ...options,
  });
  const written = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
      for (const look of waiting) look();
    });
  const result = once(child, 'close').then(([code]): CliResult => ({
    code: code as number | null,
    ...written,
  }));
  const has = (name: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const fail = (why: string) => {
        reject(
          new Error(`${why} before ${name} had ${String(pattern)}: ${JSON.stringify(written, null, 2)}`),
        );
      };
      const deadline = setTimeout(() => {
        fail(`${PATIENCE_MS / 1_000} s passed`);
      }, PATIENCE_MS);
      const look = () => {
        const match = pattern.exec(written[name]);
        if (match === null) return;
        waiting.delete(look);
        clearTimeout(deadline);
        resolve(match);
      };
      waiting.add(look);
      look();
      void result.then(({ code }) => {
        clearTimeout(deadline);
        fail(`It ended with ${String(code)}`);
      });
    });
  return {
    pid: child.pid ?? 0,
    result,
    signal: (signal) => void child.kill(signal),
    stdoutHas: (pattern) => has('stdout', pattern),
    stderrHas: (pattern) => has('stderr', pattern),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await result;
    },
  };
}

/** Runs `fanfare` to its end. */
export function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  return startCli(args, env).result;
}

function defined(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** What Node needs to run the sources. */
export function withLoader(): readonly string[] {
  return WITH_LOADER;
}
