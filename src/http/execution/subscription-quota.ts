import { OnDispose } from '../../lib/on-dispose.ts';

/** Counts each user's open subscriptions in this process, and refuses those beyond the limit. */
export class SubscriptionQuota {
  readonly #limit: number;
  readonly #open = new Map<string, number>();
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get total(): number {
    return this.#total;
  }

  /** Takes a place, returned by disposing. `null` when the user has none left. */
  take(userId: string): Disposable | null {
    const open = this.#open.get(userId) ?? 0;
    if (open >= this.#limit) return null;
    this.#open.set(userId, open + 1);
    this.#total += 1;
    return new OnDispose(() => {
      this.#giveBack(userId);
    });
  }

  #giveBack(userId: string): void {
    const open = this.#open.get(userId) ?? 0;
    if (open <= 1) this.#open.delete(userId);
    else this.#open.set(userId, open - 1);
    this.#total -= 1;
  }
}
