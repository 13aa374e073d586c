/** The longest a timer of Node waits; longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls back at a point in time, at once if it is past, unless disposed before. Does not keep the process alive. */
export function callAt(time: Date, callback: () => void): Disposable {
  return new Deadline(time.getTime(), callback);
}

/** A class, and not functions in an object: every socket has one. */
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
    // Node keeps a list for each duration, and that of a timer that was unref'ed until it is due: for as long as the token
    // of everybody who ever connected is good.
    this.#timer.ref();
    clearTimeout(this.#timer);
  }
}
