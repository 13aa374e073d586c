import { Tally } from '../../lib/tally.ts';

/** Counts each user's open subscriptions in this process, and refuses those beyond the limit. */
export class SubscriptionQuota {
  readonly #limit: number;
  readonly #open = new Tally();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get total(): number {
    return this.#open.total;
  }

  /** Takes a place, returned by disposing. `null` when the user has none left. */
  take(userId: string): Disposable | null {
    if (this.#open.of(userId) >= this.#limit) return null;
    this.#open.add(userId, 1);
    return new Place(this, userId);
  }

  /** Called once for each place. */
  giveBack(userId: string): void {
    this.#open.add(userId, -1);
  }
}

class Place implements Disposable {
  readonly #userId: string;
  #quota: SubscriptionQuota | null;

  constructor(quota: SubscriptionQuota, userId: string) {
    this.#quota = quota;
    this.#userId = userId;
  }

  [Symbol.dispose](): void {
    this.#quota?.giveBack(this.#userId);
    this.#quota = null;
  }
}
