import { InvalidArgumentError, Option } from 'commander';
import type { Terminal } from '../app/command-shapes.ts';
import { parseDuration } from '../config/units.ts';
import { ownCommand } from '../lib/package-info.ts';
import { CommandError } from './context.ts';

interface WorkerWait {
  readonly workers: () => Promise<number>;
  /** How long there may be no worker before the command ends, in milliseconds. */
  readonly withinMs: number;
  /** Advice instead of waiting, and the state when it ends. Sentences. */
  readonly instead: string;
  readonly state: string;
}

export function waitForWorkerOption(): Option {
  return new Option(
    '--wait-for-worker <duration>',
    'how long to wait if no worker is running; off: without limit',
  )
    .argParser(waitFor)
    .default(waitFor('5m'), '5m');
}

/** Counting workers costs a query, so it is done less often than checking the work. */
const LOOK_EVERY_MS = 1_000;

/** For commands that wait for workers: reports when none is running, and ends the command when none comes. */
export class MissingWorker {
  readonly #terminal: Terminal;
  readonly #wait: WorkerWait;
  #since: number | null = null;
  #lookedAt = -Infinity;

  constructor(terminal: Terminal, wait: WorkerWait) {
    this.#terminal = terminal;
    this.#wait = wait;
  }

  /** Called while the work is not done. @returns whether a worker is running @throws CommandError when none came in time */
  async look(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_EVERY_MS) return this.#since === null;
    this.#lookedAt = now;
    const { workers, withinMs, instead, state } = this.#wait;
    if ((await workers()) > 0) {
      if (this.#since !== null) this.#terminal.note('A worker is running now.');
      this.#since = null;
      return true;
    }
    if (this.#since === null) {
      this.#since = now;
      this.#terminal.note(
        `No worker is running on this database, so nothing happens: start one (${ownCommand()} worker). ${instead}`,
      );
    }
    if (now - this.#since >= withinMs)
      throw new CommandError(`No worker started within ${inWords(withinMs)}. ${state}`);
    return false;
  }
}

function inWords(ms: number): string {
  return ms % 60_000 === 0 && ms > 0 ? `${String(ms / 60_000)} min` : `${String(ms / 1_000)} s`;
}

/** Parses `--wait-for-worker` into milliseconds. */
function waitFor(text: string): number {
  const wait = text === 'off' ? Infinity : parseDuration(text);
  if (wait === null) throw new InvalidArgumentError('Expected a duration such as 30s or 10m, or off.');
  return wait;
}
