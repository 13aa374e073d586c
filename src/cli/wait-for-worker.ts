import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../config/units.ts';
import { CommandError, type Terminal } from './context.ts';

export interface WorkerWait {
  /** How many workers run. */
  readonly workers: () => Promise<number>;
  /** How long none may run before the command ends, in milliseconds. */
  readonly withinMs: number;
  /** What to do instead of waiting, and how things stand when it ends. Sentences. */
  readonly instead: string;
  readonly state: string;
}

export function waitForWorkerOption(): Option {
  return new Option('--wait-for-worker <duration>', 'how long to wait where no worker runs; off: for ever')
    .argParser(waitFor)
    .default(waitFor('5m'), '5m');
}

/** Counting workers costs a query; what is waited for is looked at more often. */
const LOOK_EVERY_MS = 1_000;

/** For commands that wait for what only workers do: says when none runs, and ends the command when none comes. */
export class MissingWorker {
  readonly #terminal: Pick<Terminal, 'note'>;
  readonly #wait: WorkerWait;
  #since: number | null = null;
  #lookedAt = -Infinity;

  constructor(terminal: Pick<Terminal, 'note'>, wait: WorkerWait) {
    this.#terminal = terminal;
    this.#wait = wait;
  }

  /** To be called while the work is not done. @returns whether a worker runs @throws CommandError when none has come in time */
  async look(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_EVERY_MS) return this.#since === null;
    this.#lookedAt = now;
    const { workers, withinMs, instead, state } = this.#wait;
    if ((await workers()) > 0) {
      if (this.#since !== null) this.#terminal.note('A worker runs now.');
      this.#since = null;
      return true;
    }
    if (this.#since === null) {
      this.#since = now;
      this.#terminal.note(
        `No worker runs on this database, so nothing happens: start one (npx fanfare worker). ${instead}`,
      );
    }
    if (now - this.#since >= withinMs)
      throw new CommandError(`No worker came within ${inWords(withinMs)}. ${state}`);
    return false;
  }
}

function inWords(ms: number): string {
  return ms % 60_000 === 0 && ms > 0 ? `${String(ms / 60_000)} min` : `${String(ms / 1_000)} s`;
}

/** Reads `--wait-for-worker`: milliseconds. */
function waitFor(text: string): number {
  const wait = text === 'off' ? Infinity : parseDuration(text);
  if (wait === null) throw new InvalidArgumentError('Expected a duration such as 30s or 10m, or off.');
  return wait;
}
