import { WakeUps } from './wake-ups.ts';
import type { WorkSignal } from './work-signal.ts';

export class MemoryWorkSignal implements WorkSignal {
  readonly #wakeUps: WakeUps;

  /** @param options.onTrouble called when a callback throws. */
  constructor(options: { readonly onTrouble?: (what: string, error: unknown) => void } = {}) {
    this.#wakeUps = new WakeUps((error) => options.onTrouble?.('wake a worker', error));
  }

  notify(): void {
    this.#wakeUps.wake();
  }

  onWork(callback: () => void): Disposable {
    return this.#wakeUps.add(callback);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#wakeUps.clear();
    return Promise.resolve();
  }
}
