import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What a child program answers to: one argument each, all of it JSON. */
export type Api = Readonly<Record<string, (argument: never) => unknown>>;

/** A process of its own that answers calls. Disposing ends it. */
export interface Child<A extends Api> extends AsyncDisposable {
  readonly pid: number;
  /** Rejects with the message of what the child threw, or when it ends first. */
  call<K extends keyof A & string>(
    name: K,
    argument: Parameters<A[K]>[0],
  ): Promise<Awaited<ReturnType<A[K]>>>;
  /** The first line of its output that fits, past or to come; what it captured. */
  line(fits: RegExp): Promise<RegExpExecArray>;
}

export interface ChildOptions {
  /** A file of the project, from its root. */
  readonly program: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** For Node itself. */
  readonly nodeArgs?: readonly string[];
  /** A checkout to run it in, in place of this one. */
  readonly checkout?: string | undefined;
  /** Throws away what it prints on stdout, unseen. */
  readonly isMute?: boolean;
}

/** Where this checkout lies. */
export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const LAST_LINES = 40;
const SHOWN_COMPLAINTS = 3;
const END_WITHIN_MS = 10_000;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a program with the probe in it: see programs/probe.ts. */
export function startChild<A extends Api>(options: ChildOptions): Child<A> {
  const { program, args = [], env = {}, nodeArgs = [], isMute = false, checkout = PROJECT } = options;
  const imports = ['--import', 'tsx', '--import', new URL('../programs/probe.ts', import.meta.url).href];
  const child = spawn(process.execPath, ['--expose-gc', ...nodeArgs, ...imports, program, ...args], {
    cwd: checkout,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_ENV: 'production', ...env },
    stdio: ['ignore', isMute ? 'ignore' : 'pipe', 'pipe', 'ipc'],
  });
  running.add(child);
  const output = new Output(child);
  const calls = new Calls(child, () => output.tail());
  const exited = once(child, 'exit').then(() => {
    running.delete(child);
  });
  return {
    pid: child.pid ?? 0,
    call: (name, argument) => calls.call(name, argument),
    line: (fits) => output.line(fits),
    async [Symbol.asyncDispose]() {
      calls.close();
      child.kill('SIGTERM');
      const overdue = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
      await exited;
      clearTimeout(overdue);
    },
  };
}

/** Lines of stdout and stderr, the latest kept for error messages. */
class Output {
  readonly #lines: string[] = [];
  readonly #listeners = new Set<(line: string) => boolean>();
  readonly #onEnd = new Set<() => void>();
  #hasEnded = false;
  #complaints = 0;

  constructor(child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        this.#lines.push(line);
        if (this.#lines.length > LAST_LINES) this.#lines.shift();
        this.#complain(line);
        for (const listener of this.#listeners) listener(line);
      });
    }
    child.once('close', () => {
      this.#hasEnded = true;
      for (const listener of this.#onEnd) listener();
    });
  }

  /** What a server logs as an error makes its figures doubtful, so it is shown; the first few times. */
  #complain(line: string): void {
    if (!/"level":"(?:error|fatal)"/.test(line) || ++this.#complaints > SHOWN_COMPLAINTS) return;
    console.error(line.slice(0, 1_000));
  }

  tail(): string {
    return this.#lines.join('\n');
  }

  line(fits: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        reject(new Error(`A process ended before it was ready:\n${this.tail()}`));
      };
      const look = (line: string): boolean => {
        const match = fits.exec(line);
        if (match === null) return false;
        this.#listeners.delete(look);
        this.#onEnd.delete(fail);
        resolve(match);
        return true;
      };
      if (this.#lines.some(look)) return;
      if (this.#hasEnded) {
        fail();
        return;
      }
      this.#listeners.add(look);
      this.#onEnd.add(fail);
    });
  }
}

interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** Calls over the channel of the process, answered in any order. */
class Calls {
  readonly #child: ChildProcess;
  readonly #open = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #last = 0;
  #isClosing = false;

  constructor(child: ChildProcess, tail: () => string) {
    this.#child = child;
    child.on('message', (message) => {
      const { id, value, error } = message as Reply;
      const call = this.#open.get(id);
      this.#open.delete(id);
      if (error === undefined) call?.resolve(value);
      else call?.reject(new Error(error));
    });
    child.once('exit', (code, signal) => {
      for (const call of this.#open.values())
        call.reject(
          new Error(
            this.#isClosing
              ? 'The process was ended'
              : `A process ended (${String(code ?? signal)}):\n${tail()}`,
          ),
        );
      this.#open.clear();
    });
  }

  close(): void {
    this.#isClosing = true;
  }

  call<T>(name: string, argument: unknown): Promise<T> {
    const id = ++this.#last;
    return new Promise<T>((resolve, reject) => {
      this.#open.set(id, {
        resolve: (value) => {
          resolve(value as T);
        },
        reject,
      });
      this.#child.send({ id, name, argument }, (error) => {
        if (error === null) return;
        this.#open.delete(id);
        reject(error);
      });
    });
  }
}
