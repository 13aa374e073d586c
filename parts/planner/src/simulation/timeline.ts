import TinyQueue from 'tinyqueue';

interface Appointment {
  readonly at: number;
  /** Ties are resolved by insertion order, so that every run is the same. */
  readonly order: number;
  readonly run: () => void;
}

/** Clock of a simulation, in seconds: advances from one appointment to the next. */
export class Timeline {
  now = 0;
  readonly #appointments = new TinyQueue<Appointment>([], (a, b) => a.at - b.at || a.order - b.order);
  #order = 0;

  after(seconds: number, run: () => void): void {
    this.#appointments.push({ at: this.now + Math.max(0, seconds), order: this.#order++, run });
  }

  at(moment: number, run: () => void): void {
    this.after(moment - this.now, run);
  }

  /** Runs until nothing is left, or until a time. */
  run(until = Infinity): void {
    for (;;) {
      const next = this.#appointments.peek();
      if (next === undefined || next.at > until) break;
      this.#appointments.pop();
      this.now = next.at;
      next.run();
    }
    if (until < Infinity) this.now = Math.max(this.now, until);
  }
}
