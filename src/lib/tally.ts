/** Sums by key, and in total. A key whose sum is zero takes no memory. */
export class Tally {
  readonly #sums = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(key: string): number {
    return this.#sums.get(key) ?? 0;
  }

  /** @param key `null`: counts in total only */
  add(key: string | null, more: number): void {
    if (more === 0) return;
    this.#total += more;
    if (key === null) return;
    const sum = this.of(key) + more;
    if (sum === 0) this.#sums.delete(key);
    else this.#sums.set(key, sum);
  }
}
