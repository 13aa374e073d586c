import { WorkListeners, type LocalListener } from './work-listeners.ts';
import type { DueWork, WorkListener, WorkOffer, WorkSignal } from './work-signal.ts';

export class MemoryWorkSignal implements WorkSignal {
  readonly #listeners: WorkListeners;
  /** Announced, and not yet heard: one call is enough. */
  readonly #announced = new Set<DueWork>();

  /** @param options.onTrouble called when a callback throws. */
  constructor(options: { readonly onTrouble?: (what: string, error: unknown) => void } = {}) {
    this.#listeners = new WorkListeners((error) => options.onTrouble?.('wake a worker', error));
  }

  notify(work: DueWork): void {
    if (this.#announced.has(work)) return;
    this.#announced.add(work);
    setImmediate(() => this.#announced.delete(work));
    this.#listeners.offer(work, offerToOne());
  }

  onWork(work: DueWork | 'any', callback: (offer: WorkOffer) => void): WorkListener {
    const listener: LocalListener = { work, call: callback };
    return this.#listeners.add(listener, () => {
      this.#listeners.offer(work === 'any' ? null : work, offerToOne(), listener);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    return Promise.resolve();
  }
}

function offerToOne(): WorkOffer {
  let isTaken = false;
  return {
    take: () => {
      const isFirst = !isTaken;
      isTaken = true;
      return Promise.resolve(isFirst);
    },
  };
}
