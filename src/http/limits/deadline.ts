/** Upper bound of Node's timers; longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Calls back at a point in time, or at once if it has passed, unless disposed before. Does not keep the process alive. What is
 * left until then is found out now: setting the machine's clock later changes nothing.
 */
export function callAt(time: Date, callback: () => void): Disposable {
  return callAfter(time.getTime() - Date.now(), callback);
}

export function callAfter(ms: number, callback: () => void): Disposable {
  return new Deadline(performance.now() + ms, callback);
}

/** A class instead of an object of functions, since every socket has one. */
class Deadline implements Disposable {
  /** On the `performance.now()` clock. */
  readonly time: number;
  readonly callback: () => void;

  constructor(time: number, callback: () => void) {
    this.time = time;
    this.callback = callback;
    deadlines.add(this);
  }

  [Symbol.dispose](): void {
    deadlines.delete(this);
  }
}

/**
 * A single timer for all of them, set to the first: Node would need a timer, and a list per duration, with several times the
 * memory.
 */
class Deadlines {
  readonly #open = new Set<Deadline>();
  #timer: NodeJS.Timeout | null = null;
  /** The time the timer is set to. */
  #first = Infinity;
  readonly #onTimer = (): void => {
    const now = performance.now();
    this.#stop();
    try {
      const due = [...this.#open].filter(({ time }) => time <= now);
      // A callback may dispose another deadline.
      for (const deadline of due) if (this.#open.delete(deadline)) deadline.callback();
    } finally {
      // After a failing callback, the others that are due are called next.
      let first = Infinity;
      for (const { time } of this.#open) first = Math.min(first, time);
      this.#start(first);
    }
  };

  add(deadline: Deadline): void {
    this.#open.add(deadline);
    if (deadline.time < this.#first) this.#start(deadline.time);
  }

  delete(deadline: Deadline): void {
    this.#open.delete(deadline);
    if (this.#open.size === 0) this.#stop();
  }

  #start(first: number): void {
    this.#stop();
    if (first === Infinity) return;
    this.#first = first;
    const remaining = Math.min(Math.max(Math.ceil(first - performance.now()), 0), MAX_TIMER_MS);
    this.#timer = setTimeout(this.#onTimer, remaining).unref();
  }

  #stop(): void {
    this.#first = Infinity;
    if (this.#timer === null) return;
    // Node keeps the list of an unref'ed timer until it is due.
    this.#timer.ref();
    clearTimeout(this.#timer);
    this.#timer = null;
  }
}

const deadlines = new Deadlines();
