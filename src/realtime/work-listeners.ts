import type { DueWork, WorkListener, WorkOffer } from './work-signal.ts';

/** A listener of this process. */
export interface LocalListener {
  readonly work: DueWork | 'any';
  readonly call: (offer: WorkOffer) => void;
}

/** The listeners of one process. They are called asynchronously. */
export class WorkListeners {
  readonly #listeners = new Set<LocalListener>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** @param passOn announces the same kind of work to everybody but this listener. */
  add(listener: LocalListener, passOn: () => void): WorkListener {
    this.#listeners.add(listener);
    return { passOn, [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** @param work `null`: unknown, so all listeners are called. @param except who is not called. */
  offer(work: DueWork | null, offer: WorkOffer, except: LocalListener | null = null): void {
    setImmediate(() => {
      for (const listener of [...this.#listeners]) {
        if (listener === except) continue;
        if (work !== null && listener.work !== 'any' && listener.work !== work) continue;
        try {
          listener.call(offer);
        } catch (error) {
          this.#onError(error);
        }
      }
    });
  }

  clear(): void {
    this.#listeners.clear();
  }
}
