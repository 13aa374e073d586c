import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, statfsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Exit, RunningService, ServiceSpec } from './keeper-messages.ts';
import { boundLog } from './process/bounded-log.ts';
import { identify } from './process/identity.ts';
import { endOrphans } from './process/orphans.ts';
import { openOwnLog } from './process/own-file.ts';

/** What its keeper hears of a process. */
export interface ProcessReports {
  started(pid: number): void;
  line(line: string): void;
  /** It ended though nobody asked it to, and is started again after a pause. */
  down(exit: Exit, pauseMs: number): void;
  restarted(pid: number): void;
  /** An attempt to start it again, or to shorten its log, failed; further ones follow. */
  failed(reason: unknown): void;
  /** It is over for good. */
  exited(exit: Exit): void;
  refused(reason: string): void;
}

/** How often a process is started again. */
export interface RestartPace {
  /** After the first end; each further one in a row doubles the pause. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** So many ends in a row, each soon after the start, and it is not started again. */
  readonly mostRestarts: number;
  /** A run this long counts as a success, after which the next end is the first one again. */
  readonly steadyMs: number;
  /** How often its log is looked at. */
  readonly logEveryMs: number;
}

/** It gives up after about a minute and a half. */
const PACE: RestartPace = {
  firstPauseMs: 250,
  longestPauseMs: 15_000,
  mostRestarts: 10,
  steadyMs: 60_000,
  logEveryMs: 10_000,
};
/** With less room on its disk a service cannot be expected to run, and its ends are not counted. */
const ROOM_BYTES = 64 * 1024 * 1024;

/** One process of a keeper, which may be started again when it dies. */
export class KeptProcess {
  readonly spec: ServiceSpec;
  /** Settles when the process is over for good. */
  readonly over: Promise<void>;
  readonly #reports: ProcessReports;
  readonly #pace: RestartPace;
  #resolveOver: () => void = () => undefined;
  #child: ChildProcess | null = null;
  #identity: RunningService['identity'] | null = null;
  #isKept = false;
  #timer: NodeJS.Timeout | undefined;
  #logTimer: NodeJS.Timeout | undefined;
  #isStopping = false;
  #isOver = false;
  #startedAt = 0;
  /** Ends in a row, each soon after the start. */
  #ends = 0;
  /** Those of them that had nothing to do with a full disk. */
  #faults = 0;

  constructor(spec: ServiceSpec, reports: ProcessReports, pace: RestartPace = PACE) {
    this.spec = spec;
    this.#reports = reports;
    this.#pace = pace;
    this.over = new Promise((resolve) => (this.#resolveOver = resolve));
  }

  /** What runs now, for the record; null between two runs. */
  get service(): RunningService | null {
    return this.#identity && { name: this.spec.name, identity: this.#identity };
  }

  start(): void {
    this.#logTimer = setInterval(() => {
      this.#boundLog();
    }, this.#pace.logEveryMs);
    const child = this.#spawn((reason) => {
      this.#reports.refused(reason);
      this.#finish();
    });
    if (child !== null) this.#reports.started(child);
  }

  /** From now on it is started again when it ends though nobody asked it to. */
  keepRunning(): void {
    this.#isKept = true;
  }

  /** A process that is killed on purpose stays away. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    if (signal === 'SIGKILL') this.#isStopping = true;
    this.#child?.kill(signal);
  }

  /** Asks it to stop as its specification says, and kills it when that takes too long. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child === null) {
      this.#endBetweenRuns();
      return;
    }
    const timer = setTimeout(() => child.kill('SIGKILL'), this.spec.stopWithinMs);
    if (this.spec.stopBy === 'eof') child.stdin?.end();
    else child.kill(this.spec.stopBy);
    // A stopped (SIGSTOP) process would not see the signal.
    child.kill('SIGCONT');
    await this.over;
    clearTimeout(timer);
  }

  /** Gives back the process id, or null when it could not be run, of which `refuse` hears. */
  #spawn(refuse: (reason: string) => void): number | null {
    const { spec } = this;
    this.#startedAt = performance.now();
    const log = openOwnLog(spec.log);
    let child: ChildProcess;
    try {
      child = spawn(spec.command, spec.args, {
        cwd: spec.cwd,
        env: spec.env,
        stdio: [spec.stopBy === 'eof' ? 'pipe' : 'ignore', spec.stdout === 'lines' ? 'pipe' : log, log],
      });
    } finally {
      closeSync(log);
    }
    child.once('error', (error) => {
      if (child.pid === undefined) refuse(error.message);
    });
    // A service may go before its input is closed; that is not a fault of the keeper.
    child.stdin?.on('error', () => undefined);
    if (child.pid === undefined) return null;
    this.#child = child;
    this.#identity = identify(child.pid) ?? { pid: child.pid, started: 'ended' };
    child.once('exit', (code, signal) => {
      this.#ended({ code, signal });
    });
    if (child.stdout !== null) {
      createInterface({ input: child.stdout }).on('line', (line) => {
        this.#reports.line(line);
      });
    }
    return child.pid;
  }

  #boundLog(): void {
    try {
      boundLog(this.spec.log);
    } catch (error) {
      // The disk may be full or the folder deleted; the service goes on.
      this.#reports.failed(error);
    }
  }

  #ended(exit: Exit): void {
    this.#child = null;
    this.#identity = null;
    if (performance.now() - this.#startedAt > this.#pace.steadyMs) [this.#ends, this.#faults] = [0, 0];
    this.#ends += 1;
    if (hasRoom(this.spec.cwd)) this.#faults += 1;
    if (this.#isStopping || !this.#isKept || this.#faults > this.#pace.mostRestarts) this.#finish(exit);
    else this.#startAgain(exit);
  }

  #startAgain(exit: Exit): void {
    const { firstPauseMs, longestPauseMs } = this.#pace;
    const pauseMs = Math.min(firstPauseMs * 2 ** (this.#ends - 1), longestPauseMs);
    this.#reports.down(exit, pauseMs);
    this.#timer = setTimeout(() => {
      void this.#restart();
    }, pauseMs);
  }

  async #restart(): Promise<void> {
    const again = (reason: unknown): void => {
      this.#reports.failed(reason);
      if (this.#isStopping) this.#endBetweenRuns();
      else this.#ended({ code: null, signal: null });
    };
    try {
      const { orphans, cwd } = this.spec;
      if (orphans !== undefined) await endOrphans(orphans, cwd);
      if (this.#isStopping) {
        this.#endBetweenRuns();
        return;
      }
      const pid = this.#spawn(again);
      if (pid !== null) this.#reports.restarted(pid);
    } catch (error) {
      again(error);
    }
  }

  #endBetweenRuns(): void {
    clearTimeout(this.#timer);
    this.#finish({ code: null, signal: null });
  }

  #finish(exit?: Exit): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#logTimer);
    this.#resolveOver();
    if (exit !== undefined) this.#reports.exited(exit);
  }
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ROOM_BYTES;
  } catch {
    return true; // The folder was deleted: its service will not come back, and must not be tried for ever.
  }
}
