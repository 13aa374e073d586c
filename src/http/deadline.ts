/** The longest a timer of Node waits; longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls back at a point in time, at once if it is past, unless disposed before. Does not keep the process alive. */
export function callAt(time: Date, callback: () => void): Disposable {
  let timer: NodeJS.Timeout;
  function arm(): void {
    const remaining = time.getTime() - Date.now();
    timer = setTimeout(
      remaining > MAX_TIMER_MS ? arm : callback,
      Math.min(Math.max(remaining, 0), MAX_TIMER_MS),
    );
    timer.unref();
  }
  arm();
  return {
    [Symbol.dispose]: () => {
      // Node keeps a list for each duration, and that of a timer that was unref'ed until it is due: for as long as the token
      // of everybody who ever connected is good.
      timer.ref();
      clearTimeout(timer);
    },
  };
}
