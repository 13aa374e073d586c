import type { WebhookOutcome } from '../../connections/webhook-client.ts';

export interface HealthObserver {
  /** So many consecutive attempts failed that no new events are sent to it. */
  down(error: string): void;
  up(): void;
}

/** Consecutive failures after which a receiver counts as down. */
export const DOWN_AFTER = 10;

/** Whether a receiver accepts anything, as observed by this process. */
export class ReceiverHealth {
  readonly #observer: HealthObserver;
  #failures = 0;

  constructor(observer: HealthObserver) {
    this.#observer = observer;
  }

  get isDown(): boolean {
    return this.#failures >= DOWN_AFTER;
  }

  /** Records an attempt. Returns true when a receiver that was down is back. */
  note(outcome: WebhookOutcome): boolean {
    const before = this.#failures;
    if (!outcome.isTaken) {
      this.#failures += 1;
      if (this.#failures === DOWN_AFTER) this.#observer.down(outcome.error);
      return false;
    }
    this.#failures = 0;
    if (before < DOWN_AFTER) return false;
    this.#observer.up();
    return true;
  }
}
