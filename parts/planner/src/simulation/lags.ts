/** Delays, weighted by the number of readers. */
export class Lags {
  #seconds: number[] = [];
  #weights: number[] = [];
  #total = 0;
  #isSorted = true;

  add(seconds: number, weight = 1): void {
    if (weight <= 0) return;
    this.#seconds.push(seconds);
    this.#weights.push(weight);
    this.#total += weight;
    this.#isSorted = false;
  }

  get count(): number {
    return this.#total;
  }

  get mean(): number {
    const sum = this.#seconds.reduce((all, seconds, index) => all + seconds * (this.#weights[index] ?? 0), 0);
    return this.#total === 0 ? 0 : sum / this.#total;
  }

  /** The quantile for this share; 0 if empty. */
  quantile(share: number): number {
    this.#sort();
    let passed = 0;
    for (const [index, seconds] of this.#seconds.entries()) {
      passed += this.#weights[index] ?? 0;
      if (passed >= share * this.#total) return seconds;
    }
    return this.#seconds.at(-1) ?? 0;
  }

  #sort(): void {
    if (this.#isSorted) return;
    const order = this.#seconds.map((_, index) => index);
    order.sort((a, b) => (this.#seconds[a] ?? 0) - (this.#seconds[b] ?? 0));
    this.#seconds = order.map((index) => this.#seconds[index] ?? 0);
    this.#weights = order.map((index) => this.#weights[index] ?? 0);
    this.#isSorted = true;
  }
}
