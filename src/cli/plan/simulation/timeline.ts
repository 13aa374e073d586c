import TinyQueue from 'tinyqueue';

interface Appointment {
  readonly at: number;
  /** What was put down first comes first, at the same moment too: so a run is the same each time. */
  readonly order: number;
  readonly run: () => void;
}

/** The clock of a simulation, in seconds: it goes from one appointment to the next. */
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

  /** Goes on until nothing is left to happen, or to this moment. */
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
