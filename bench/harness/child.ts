import { spawn, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
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

interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

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
  const replies = new EventEmitter();
  child.on('message', (message) => replies.emit(String((message as Reply).id), message));
  let [last, isClosing] = [0, false];
  const exited = once(child, 'exit').then(([code, signal]: unknown[]) => {
    running.delete(child);
    return isClosing
      ? 'The process was ended'
      : `A process ended (${String(code ?? signal)}):\n${output.tail()}`;
  });
  const fail = async (): Promise<never> => {
    throw new Error(await exited);
  };
  return {
    pid: child.pid ?? 0,
    call: async (name, argument) => {
      const id = ++last;
      const answered = once(replies, String(id)) as Promise<[Reply]>;
      // A process whose channel is closed ends: that is what rejects.
      child.send({ id, name, argument }, () => undefined);
      const [{ value, error }] = await Promise.race([answered, fail()]);
      if (error !== undefined) throw new Error(error);
      return value as never;
    },
    line: (fits) => output.line(fits),
    async [Symbol.asyncDispose]() {
      isClosing = true;
      child.kill('SIGTERM');
      const overdue = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
      await exited;
      clearTimeout(overdue);
    },
  };
}

/** Lines of stdout and stderr, of which the latest are kept. */
class Output {
  readonly #lines: string[] = [];
  readonly #more = new EventEmitter().setMaxListeners(0);
  #hasEnded = false;
  #complaints = 0;

  constructor(child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr])
      if (stream !== null)
        createInterface({ input: stream }).on('line', (line) => {
          this.#take(line);
        });
    child.once('close', () => {
      this.#hasEnded = true;
      this.#more.emit('more');
    });
  }

  #take(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > LAST_LINES) this.#lines.shift();
    // What a server logs as an error makes its figures doubtful, so it is shown; the first few times.
    if (/"level":"(?:error|fatal)"/.test(line) && ++this.#complaints <= SHOWN_COMPLAINTS)
      console.error(line.slice(0, 1_000));
    this.#more.emit('more');
  }

  tail(): string {
    return this.#lines.join('\n');
  }

  async line(fits: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = this.#lines.map((line) => fits.exec(line)).find((found) => found !== null);
      if (match !== undefined) return match;
      if (this.#hasEnded) throw new Error(`A process ended before it was ready:\n${this.tail()}`);
      await once(this.#more, 'more');
    }
  }
}
