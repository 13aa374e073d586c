import { createHash, type Hash } from 'node:crypto';
import TinyQueue from 'tinyqueue';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';

interface Due {
  readonly at: number;
  /** Decides between what is due at the same time. */
  readonly rank: number;
  readonly run: () => void;
  /** What was going on when it was asked for. */
  readonly cause: number | null;
  isCancelled: boolean;
}

/** The last lines of a trace, for a person. */
const KEPT = 4_000;
/** So many steps at one time are a loop. */
const MOST_AT_ONCE = 20_000;

/** Runs what is due, one after the other, in virtual time. All chance comes from one seed. */
export class Scheduler {
  readonly random: SeededRandom;
  readonly lines: string[] = [];
  readonly #queue = new TinyQueue<Due>([], (a, b) => a.at - b.at || a.rank - b.rank);
  readonly #hash: Hash = createHash('sha256');
  #time = 0;
  #cause: number | null = null;
  #atOnce = 0;
  #steps = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  /** Virtual milliseconds since the beginning. */
  get time(): number {
    return this.#time;
  }

  get steps(): number {
    return this.#steps;
  }

  /** Whose work goes on: all that a step leads to has the step's cause. `null`: nobody's. */
  get cause(): number | null {
    return this.#cause;
  }

  /** Has it run after so many milliseconds. @param cause default: what is going on */
  after(ms: number, run: () => void, cause = this.#cause): { cancel(): void } {
    const at = this.#time + Math.max(0, ms);
    const due: Due = { at, rank: this.random.next(), run, cause, isCancelled: false };
    this.#queue.push(due);
    return {
      cancel: () => {
        due.isCancelled = true;
      },
    };
  }

  /**
   * Adds to what two runs of a seed must have in common.
   * @param more what a person does not read
   */
  note(line: string, more = ''): void {
    const whole = `${this.#time.toFixed(3)} ${line}`;
    this.#hash.update(`${whole} ${more}\n`);
    this.lines.push(whole);
    if (this.lines.length > 2 * KEPT) this.lines.splice(0, KEPT);
  }

  /** Of all that was noted. */
  digest(): string {
    return this.#hash.copy().digest('hex').slice(0, 16);
  }

  /**
   * Goes on until the work is done.
   * @throws when it is not within so many milliseconds of virtual time, or when nothing is due any more
   */
  async until<T>(work: Promise<T>, what: string, withinMs: number): Promise<T> {
    const deadline = this.#time + withinMs;
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
    work.then(
      (value) => {
        outcome = { value };
      },
      (error: unknown) => {
        outcome = { error };
      },
    );
    for (;;) {
      await settled();
      if (outcome !== undefined) break;
      if (this.#time > deadline) throw new Error(`Stuck: ${what} is not over within ${String(withinMs)} ms`);
      if (!this.#step()) throw new Error(`Stuck: nothing is due, and ${what} is not over`);
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  /** @returns whether there was anything */
  #step(): boolean {
    let next = this.#queue.pop();
    while (next?.isCancelled === true) next = this.#queue.pop();
    if (next === undefined) return false;
    this.#atOnce = next.at > this.#time ? 0 : this.#atOnce + 1;
    if (this.#atOnce > MOST_AT_ONCE) throw new Error(`Stuck: a loop at ${this.#time.toFixed(3)}`);
    this.#time = Math.max(this.#time, next.at);
    this.#steps += 1;
    this.#cause = next.cause;
    next.run();
    return true;
  }
}

/** After all that follows without waiting for anything: microtasks have been run when the next turn begins. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
