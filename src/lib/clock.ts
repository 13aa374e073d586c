/** What the source of the time says, and how sure that is. */
export interface TimeSample {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** When that was, by `performance.now()`. */
  readonly at: number;
  /** Off by this much at most, in milliseconds. */
  readonly uncertainty: number;
}

/** A sample that is no better than the one before replaces it after this time: clocks drift apart, and are set. */
const STALE_AFTER_MS = 20_000;
/** What clocks may drift apart between two samples. */
const DRIFT_MS = 100;
/** The time stands still for so long rather than go back. */
const MAX_STANDSTILL_MS = 1_000;

/** How far the clocks of two processes may lie apart, in milliseconds. */
export const CLOCK_DIFFERENCE_MS = 60_000;

/**
 * The time by which everything goes that processes compare: due dates, leases, spans, marks. It is that of the database,
 * since the clocks of machines differ. A machine whose clock agrees with the database's, as far as can be measured, goes
 * by its own: two processes of one machine then have the same time to the millisecond.
 */
export class Clock {
  readonly #machine: () => number;
  #sample: TimeSample | null = null;
  #last = -Infinity;

  /** @param machine the clock of the machine. */
  constructor(machine: () => number = () => Date.now()) {
    this.#machine = machine;
  }

  /** Milliseconds since the epoch. Does not go back, unless the database's clock was set. */
  time(): number {
    const time = this.#estimate();
    const standsStill = time < this.#last && this.#last - time < MAX_STANDSTILL_MS;
    if (!standsStill) this.#last = time;
    return this.#last;
  }

  now(): Date {
    return new Date(this.time());
  }

  /** Takes notice of what the database said the time is. */
  observe(sample: TimeSample): void {
    const before = this.#sample;
    const isBetter = before === null || sample.uncertainty <= before.uncertainty;
    if (isBetter || sample.at - before.at >= STALE_AFTER_MS) this.#sample = sample;
  }

  /** By how much the machine's clock is ahead, in milliseconds; behind: negative. 0 where that cannot be told from none. */
  skew(): number {
    return this.#machine() - this.#estimate();
  }

  #estimate(): number {
    const machine = this.#machine();
    if (this.#sample === null) return machine;
    const { time, at, uncertainty } = this.#sample;
    const database = Math.round(time + performance.now() - at);
    return Math.abs(machine - database) <= uncertainty + DRIFT_MS ? machine : database;
  }
}

/** The one clock of the process: it has one database. */
export const clock = new Clock();
