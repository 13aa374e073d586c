/** A reading of the time source, with its uncertainty. */
export interface TimeSample {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** `performance.now()` at the time of the reading. */
  readonly at: number;
  /** Maximum error, in milliseconds. */
  readonly uncertainty: number;
}

/** After this time a less precise sample replaces the previous one: clocks drift and are adjusted. */
const STALE_AFTER_MS = 20_000;
/** Assumed maximum drift between two samples. */
const DRIFT_MS = 100;
/** The clock stands still for at most this long instead of going back. */
const MAX_STANDSTILL_MS = 1_000;

/** Assumed maximum difference between the clocks of two processes, in milliseconds. */
export const CLOCK_DIFFERENCE_MS = 60_000;

/**
 * Time for everything that several processes compare: due dates, leases, spans, marks. It follows the database's clock,
 * since machine clocks differ. While the machine's clock agrees with the database's, as far as can be measured, it is used
 * as it is: two processes on one machine then agree to the millisecond.
 */
export class Clock {
  readonly #machine: () => number;
  #sample: TimeSample | null = null;
  #last = -Infinity;

  /** @param machine reads the machine's clock. */
  constructor(machine: () => number = () => Date.now()) {
    this.#machine = machine;
  }

  /** Milliseconds since the epoch. Never goes back, unless the database's clock was set back. */
  time(): number {
    const time = this.#estimate();
    const standsStill = time < this.#last && this.#last - time < MAX_STANDSTILL_MS;
    if (!standsStill) this.#last = time;
    return this.#last;
  }

  now(): Date {
    return new Date(this.time());
  }

  /** The time of a reader's mark, whose millisecond ends with it: what comes later has a later time, which gets ahead by that. */
  mark(at: Date): Date {
    const lead = this.#last - this.#estimate();
    if (at.getTime() === this.#last && lead < MAX_STANDSTILL_MS / 2) this.#last += 1;
    return at;
  }

  /** Adjusts the clock to a sample of the database's time. */
  observe(sample: TimeSample): void {
    const before = this.#sample;
    const isBetter = before === null || sample.uncertainty <= before.uncertainty;
    if (isBetter || sample.at - before.at >= STALE_AFTER_MS) this.#sample = sample;
  }

  /** Lead of the machine's clock in milliseconds, negative when behind; 0 when within the uncertainty. */
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

/** The process has one clock because it has one database. */
export const clock = new Clock();
