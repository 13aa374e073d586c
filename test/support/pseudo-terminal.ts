import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { withLoader } from './run-cli.ts';

/** A script of the tests in a terminal of its own. Disposing ends it. */
export interface InTerminal extends AsyncDisposable {
  /** Everything that was written to the screen so far, codes included. */
  screen(): string;
  /** Resolves when the screen has had this; rejects when the program ends first. */
  shows(pattern: RegExp): Promise<void>;
  type(keys: string): void;
  /** As when somebody closes the window: the program gets SIGHUP, and what it writes fails. */
  closeWindow(): Promise<void>;
  readonly end: Promise<{ readonly code: number | null; readonly screen: string }>;
}

/** Whether a terminal can be made here. */
export function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

/** Starts a script in a terminal that `script` of util-linux makes. */
export function startInTerminal(
  path: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): InTerminal {
  const command = [process.execPath, ...withLoader(), path, ...args].map((part) => `'${part}'`).join(' ');
  const child = spawn('script', ['-qfec', `exec ${command}`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...{ TERM: 'xterm', FORCE_COLOR: undefined, NO_COLOR: undefined, CI: undefined },
      ...env,
    },
  });
  let screen = '';
  let hasEnded = false;
  const watchers = new Set<() => void>();
  const look = (): void => {
    for (const watcher of watchers) watcher();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    look();
  });
  const end = once(child, 'close').then(([code]) => {
    hasEnded = true;
    look();
    return { code: code as number | null, screen };
  });
  const closeWindow = async (): Promise<void> => {
    child.kill('SIGKILL');
    await end;
  };
  return {
    screen: () => screen,
    end,
    type: (keys) => void child.stdin.write(keys),
    closeWindow,
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        const watcher = (): void => {
          if (!pattern.test(screen) && !hasEnded) return;
          watchers.delete(watcher);
          if (pattern.test(screen)) resolve();
          else reject(new Error(`It ended before the screen had ${String(pattern)}: ${screen}`));
        };
        watchers.add(watcher);
        watcher();
      }),
    [Symbol.asyncDispose]: closeWindow,
  };
}
