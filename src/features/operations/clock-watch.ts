import { clock as processClock } from '../../lib/clock.ts';
import { OnDispose } from '../../lib/closer.ts';

/** Skew above which a warning is logged. */
const WARN_ABOVE_MS = 1_000;
/** Skew above which the process is not ready: tokens expire by the machine's clock, and log times would be wrong. */
const MAX_SKEW_MS = 30_000;
const LOOK_EVERY_MS = 10_000;

export interface ClockObserver {
  skewed(seconds: number): void;
  /** The skew has ended. */
  right(seconds: number): void;
}

/** Reports when the machine's clock and the database's start to differ and when they agree again; checks periodically. */
export function watchClock(observer: ClockObserver, clock: { skew(): number } = processClock): Disposable {
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
  return new OnDispose(() => clearInterval(timer));
}

/** Readiness check: rejects while the machine's clock is too far off. */
export function checkClock(clock: { skew(): number } = processClock): Promise<void> {
  const skew = clock.skew();
  if (Math.abs(skew) <= MAX_SKEW_MS) return Promise.resolve();
  const seconds = String(Math.round(Math.abs(skew) / 1_000));
  const way = skew > 0 ? 'ahead of' : 'behind';
  return Promise.reject(
    new Error(`The machine's clock is ${seconds} s ${way} the database's, at most 30 s are allowed`),
  );
}
