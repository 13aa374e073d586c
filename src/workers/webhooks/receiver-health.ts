import type { WebhookOutcome } from '../../connections/webhook-client.ts';

export interface HealthObserver {
  /** It has failed so often in a row that it is not sent anything new. */
  down(error: string): void;
  up(): void;
}

/** Failed attempts in a row after which a receiver counts as down. */
export const DOWN_AFTER = 10;

/** Whether a receiver takes anything at all, by what this process has seen. */
export class ReceiverHealth {
  readonly #observer: HealthObserver;
  #failures = 0;

  constructor(observer: HealthObserver) {
    this.#observer = observer;
  }

  get isDown(): boolean {
    return this.#failures >= DOWN_AFTER;
  }

  /** Takes notice of an attempt. True: with this one a receiver that was down is back. */
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
