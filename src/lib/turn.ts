import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest time that all long work together may take of one turn of the event loop, in milliseconds. */
export const TURN_MS = 3;
/** Continuations in one turn. With more, each turn would mostly put off again what has no time in it. */
const MOST_CALLED = 100;

/**
 * Keeps long work from blocking the event loop: `if (turn.isOver()) await turn.next();`. All of it shares the time of a turn,
 * however many requests it is for, so that short work waits for one turn at most with each of its steps.
 */
class Turn {
  /** When the first of it ran in this turn of the event loop. */
  #since: number | null = null;
  readonly #waiting: (() => void)[] = [];
  /** How many continuations of waiting work the next turn has. */
  #called = 0;

  /** Whether there has been so much work that others wait for it. */
  isOver(): boolean {
    if (this.#since !== null) return performance.now() - this.#since > TURN_MS;
    this.#since = performance.now();
    // Does not keep the event loop from waiting.
    setImmediate(this.#begin).unref();
    return false;
  }

  /** Lets other work run. Who has waited longest goes on first. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#call();
    });
  }

  /** Each continuation is a call of its own, since its work runs before the next one. Very many could not all run in one turn. */
  #call(): void {
    if (this.#called >= Math.min(this.#waiting.length, MOST_CALLED)) return;
    this.#called += 1;
    setImmediate(this.#goOn);
  }

  readonly #begin = (): void => {
    this.#since = null;
  };

  readonly #goOn = (): void => {
    this.#called -= 1;
    if (!this.isOver()) this.#waiting.shift()?.();
    this.#call();
  };
}

/** What all long work of this process shares. */
export const turn = new Turn();

/** Works on many values, and on what is added meanwhile, and yields to the event loop in between. */
export async function eachInTurns<T>(values: Iterable<T>, work: (value: T) => void): Promise<void> {
  for (const value of values) {
    if (turn.isOver()) await turn.next();
    work(value);
  }
}

/** Maps many values, and yields to the event loop in between. */
export async function mapInTurns<T, R>(values: readonly T[], work: (value: T) => R): Promise<R[]> {
  const results: R[] = [];
  await eachInTurns(values, (value) => results.push(work(value)));
  return results;
}

/**
 * Processes many values slice by slice and yields to the event loop in between. For work that starts with a long synchronous
 * part, such as a driver that serialises a whole write at once. Returns the results of the slices in order. Stops at the
 * first failure.
 */
export async function inSlices<T, R>(
  values: readonly T[],
  size: number,
  work: (slice: readonly T[]) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < values.length; from += size) {
    if (from > 0) await nextTurn();
    results.push(await work(values.slice(from, from + size)));
  }
  return results;
}

/** Divides values, in order, into groups that weigh at most so much together; what weighs more is a group of its own. */
export function packed<T>(values: readonly T[], weightOf: (value: T) => number, most: number): T[][] {
  const groups: T[][] = [];
  let left = 0;
  for (const value of values) {
    const weight = weightOf(value);
    const group = weight <= left ? groups.at(-1) : undefined;
    if (group === undefined) {
      groups.push([value]);
      left = most - weight;
    } else {
      group.push(value);
      left -= weight;
    }
  }
  return groups;
}

interface Steps<T, R> {
  /** Asked before each value. After the first `false` no more work starts. */
  mayBegin(): boolean | Promise<boolean>;
  work(value: T): Promise<R>;
  /** Called one at a time and in order, once a value and all values before it are done. */
  conclude(value: T, result: R): Promise<void>;
}

/**
 * Works on up to `limit` values concurrently and concludes them in order. Values being concluded count towards the limit.
 * After the first failure nothing more is started or concluded; it rejects with that failure once all running work has
 * ended.
 */
export async function forEachInOrder<T, R>(
  source: AsyncIterable<T>,
  limit: number,
  steps: Steps<T, R>,
): Promise<void> {
  const underWay: Promise<void>[] = [];
  let last: Promise<void> = Promise.resolve();
  const progress = { hasFailed: false };
  const run = async (value: T, before: Promise<void>): Promise<void> => {
    const [earlier, own] = await Promise.allSettled([before, steps.work(value)]);
    if (earlier.status === 'rejected') throw earlier.reason;
    if (own.status === 'rejected') throw own.reason;
    await steps.conclude(value, own.value);
  };
  try {
    for await (const value of source) {
      if (progress.hasFailed || !(await steps.mayBegin())) break;
      last = run(value, last);
      underWay.push(last);
      last.catch(() => {
        progress.hasFailed = true;
      });
      if (underWay.length >= limit) await underWay.shift();
    }
  } finally {
    await Promise.allSettled(underWay);
  }
  await last;
}
