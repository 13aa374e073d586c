import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedError } from './errors.ts';
import type { Exit, FromKeeper, ServiceSpec, ToKeeper } from './keeper-messages.ts';
import { nodeCommand } from './process/node-command.ts';
import { openOwnLog } from './process/own-file.ts';
import { resolvers } from './process/resolvers.ts';
import type { Resolvers } from './process/resolvers.ts';

/** A process run by the keeper. */
export interface KeptService {
  readonly name: string;
  /** Of the process that runs now, or ran last. */
  readonly pid: number;
  /** Settles when the process has ended for good, for whatever reason. Never rejects. */
  readonly exited: Promise<Exit>;
  /** The first line on standard output (only with `stdout: 'lines'`), or null if the process ends without one. */
  readonly firstLine: Promise<string | null>;
  /** Whether it was told to end (also together with its keeper), so that its end is no surprise. */
  readonly isStopping: boolean;
  /**
   * From now on the keeper starts it again when it ends though nobody asked it to: after a pause, and a limited number
   * of times in a row.
   */
  keepRunning(onChange: (change: ServiceChange) => void): void;
  /** Asks it to stop as its specification says and waits until it is gone. Idempotent. */
  stop(): Promise<Exit>;
  /** Sends a signal, for tests of failures. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
}

/** A service died and will be started again after a pause, or has been started again. */
export type ServiceChange =
  | { readonly type: 'down'; readonly exit: Exit; readonly pauseMs: number }
  | { readonly type: 'restarted'; readonly pid: number };

interface Waiting {
  isStopping: boolean;
  pid: number;
  onChange: (change: ServiceChange) => void;
  readonly started: Resolvers<number>;
  readonly exited: Resolvers<Exit>;
  readonly firstLine: Resolvers<string | null>;
}

const KEEPER_LOST = 'The process that keeps the embedded services has ended.';

/** This process's end of the keeper: starts services in it and stops them all when disposed. */
export class Keeper implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #services = new Map<string, Waiting>();
  readonly #shared = resolvers<undefined>();
  #pending = 0;
  #lost = false;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message) => {
      this.#receive(message as FromKeeper);
    });
    this.#exited = new Promise((resolve) => child.once('exit', resolve));
    void this.#exited.then(() => {
      this.#loseAll();
    });
  }

  /** Starts a keeper that notes its processes in `folder`, which must exist. */
  static async start(folder: string): Promise<Keeper> {
    const { command, args } = nodeCommand(new URL('./keeper.ts', import.meta.url), [folder]);
    const log = openOwnLog(join(folder, 'keeper.log'));
    const child = spawn(command, args, { detached: true, cwd: folder, stdio: ['ignore', log, log, 'ipc'] });
    closeSync(log);
    const keeper = new Keeper(child);
    await Promise.race([
      once(child, 'message'),
      keeper.#exited.then(() => {
        throw new EmbeddedError('START_FAILED', `${KEEPER_LOST} Its log: ${join(folder, 'keeper.log')}`);
      }),
    ]);
    // The keeper must not keep the server alive; only an answer that is awaited does.
    keeper.#idle();
    return keeper;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Runs a process. Rejects when it cannot be run at all; that it ends early shows in `exited`. */
  async start(spec: ServiceSpec): Promise<KeptService> {
    if (this.#services.has(spec.name)) throw new EmbeddedError('START_FAILED', `${spec.name} runs already.`);
    const waiting: Waiting = {
      isStopping: false,
      pid: 0,
      onChange: () => undefined,
      started: resolvers<number>(),
      exited: resolvers<Exit>(),
      firstLine: resolvers<string | null>(),
    };
    this.#services.set(spec.name, waiting);
    waiting.pid = await this.#awaiting(waiting.started.promise, { type: 'start', spec });
    const { name } = spec;
    const exited = waiting.exited.promise;
    const isRunning = () => this.#services.get(name) === waiting;
    return {
      name,
      get pid() {
        return waiting.pid;
      },
      exited,
      firstLine: waiting.firstLine.promise,
      get isStopping() {
        return waiting.isStopping;
      },
      keepRunning: (onChange) => {
        waiting.onChange = onChange;
        if (isRunning()) this.#send({ type: 'keep', name });
      },
      stop: () => {
        waiting.isStopping = true;
        return isRunning() ? this.#awaiting(exited, { type: 'stop', name }) : exited;
      },
      signal: (signal) => {
        if (signal === 'SIGKILL') waiting.isStopping = true;
        if (isRunning()) this.#send({ type: 'signal', name, signal });
      },
    };
  }

  /** Keeps this process alive while something is awaited from a service, such as its first answer. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#busy();
    try {
      return await work();
    } finally {
      this.#idle(1);
    }
  }

  /** Resolves when its services have ended, or other processes go on with them. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const waiting of this.#services.values()) waiting.isStopping = true;
    await this.hold(async () => {
      this.#send({ type: 'end' });
      await Promise.race([this.#exited, this.#shared.promise]);
    });
  }

  async #awaiting<T>(answer: Promise<T>, message: ToKeeper): Promise<T> {
    return this.hold(async () => {
      if (this.#lost) throw new EmbeddedError('START_FAILED', KEEPER_LOST);
      this.#send(message);
      return await answer;
    });
  }

  #send(message: ToKeeper): void {
    // A channel that is closed means the keeper has ended or is ending, and its exit settles everything awaited.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #busy(): void {
    this.#pending++;
    this.#child.ref();
    this.#child.channel?.ref();
  }

  #idle(done = 0): void {
    this.#pending -= done;
    if (this.#pending > 0) return;
    this.#child.unref();
    this.#child.channel?.unref();
  }

  #receive(message: FromKeeper): void {
    if (message.type === 'up') return;
    if (message.type === 'shared') {
      this.#shared.resolve(undefined);
      return;
    }
    const waiting = this.#services.get(message.name);
    if (waiting === undefined) return;
    if (message.type === 'started') waiting.started.resolve(message.pid);
    else if (message.type === 'line') waiting.firstLine.resolve(message.line);
    else if (message.type === 'down') waiting.onChange(message);
    else if (message.type === 'restarted') {
      waiting.pid = message.pid;
      waiting.onChange(message);
    } else if (message.type === 'exited') this.#settle(message.name, waiting, message.exit);
    else {
      this.#services.delete(message.name);
      waiting.started.reject(
        new EmbeddedError('START_FAILED', `Cannot run ${message.name}: ${message.reason}.`),
      );
    }
  }

  #settle(name: string, waiting: Waiting, exit: Exit): void {
    this.#services.delete(name);
    waiting.firstLine.resolve(null);
    waiting.exited.resolve(exit);
  }

  #loseAll(): void {
    this.#lost = true;
    for (const [name, waiting] of [...this.#services]) {
      waiting.started.reject(new EmbeddedError('START_FAILED', KEEPER_LOST));
      this.#settle(name, waiting, { code: null, signal: null });
    }
  }
}
