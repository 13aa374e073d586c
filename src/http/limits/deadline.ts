/** Upper bound of Node's timers; longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls back at a point in time, or at once if it has passed, unless disposed before. Does not keep the process alive. */
export function callAt(time: Date, callback: () => void): Disposable {
  return new Deadline(time.getTime(), callback);
}

/** A class instead of an object of functions, since every socket has one. */
class Deadline implements Disposable {
  readonly #time: number;
  readonly #callback: () => void;
  #timer: NodeJS.Timeout;

  constructor(time: number, callback: () => void) {
    this.#time = time;
    this.#callback = callback;
    this.#timer = this.#arm();
  }

  #arm(): NodeJS.Timeout {
    const remaining = Math.max(this.#time - Date.now(), 0);
    if (remaining <= MAX_TIMER_MS) return setTimeout(this.#callback, remaining).unref();
    return setTimeout(() => {
      this.#timer = this.#arm();
    }, MAX_TIMER_MS).unref();
  }

  [Symbol.dispose](): void {
    // Node keeps a list per duration, which an unref'ed timer holds until it is due: as long as the token of every past
    // client
    // is valid.
    this.#timer.ref();
    clearTimeout(this.#timer);
  }
}
