import { clock as processClock, type Clock } from '../lib/clock.ts';
import { OnDispose } from '../lib/on-dispose.ts';

/** From this skew on the log warns. */
const WARN_ABOVE_MS = 1_000;
/** From this skew on the process is not ready: tokens end by the machine's clock, and its log is of another time. */
const MAX_SKEW_MS = 30_000;
const LOOK_EVERY_MS = 10_000;

export interface ClockObserver {
  skewed(seconds: number): void;
  /** It was skewed and is not any more. */
  right(seconds: number): void;
}

/** Tells when the machine's clock and the database's begin to differ, and when they agree again; looks now and then. */
export function watchClock(observer: ClockObserver, clock: Pick<Clock, 'skew'> = processClock): Disposable {
  let isSkewed = false;
  const look = (): void => {
    const skew = clock.skew();
    const wasSkewed = isSkewed;
    isSkewed = Math.abs(skew) > WARN_ABOVE_MS;
    if (isSkewed && !wasSkewed) observer.skewed(skew / 1_000);
    if (!isSkewed && wasSkewed) observer.right(skew / 1_000);
  };
  look();
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return new OnDispose(() => {
    clearInterval(timer);
  });
}

/** Rejects while the machine's clock is too far off. For readiness. */
export function checkClock(clock: Pick<Clock, 'skew'> = processClock): Promise<void> {
  const skew = clock.skew();
  if (Math.abs(skew) <= MAX_SKEW_MS) return Promise.resolve();
  const seconds = String(Math.round(Math.abs(skew) / 1_000));
  const way = skew > 0 ? 'ahead of' : 'behind';
  return Promise.reject(
    new Error(`The machine's clock is ${seconds} s ${way} the database's, at most 30 s are allowed`),
  );
}
