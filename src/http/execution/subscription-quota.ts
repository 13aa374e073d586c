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
    return new Place(this, userId);
  }

  /** Called once for each place. */
  giveBack(userId: string): void {
    const open = this.#open.get(userId) ?? 0;
    if (open <= 1) this.#open.delete(userId);
    else this.#open.set(userId, open - 1);
    this.#total -= 1;
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
