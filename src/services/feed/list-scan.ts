import type { Count } from '../shapes.ts';

/** Up to here the number of entries of a list is exact. */
export const MAX_TOTAL = 1_000;
/** Most candidates read at once beyond what the page itself needs. */
export const MAX_BITE = 500;

export interface ListScanOptions<P, C extends P, T> {
  /** The next candidates after a position, in order; fewer than `limit` means there are no more. */
  readonly scan: (after: P | null, limit: number) => Promise<readonly C[]>;
  /** Those that may be shown, in the same order. */
  readonly select: (candidates: readonly C[]) => Promise<readonly T[]>;
  readonly idOf: (candidate: P | T) => string;
  /** Whether a candidate still stands where a position says. */
  readonly isAt: (candidate: C, position: P) => boolean;
  /** How many are read at the least when the top of the list is read. */
  readonly firstBite?: number;
}

/** Candidates are read from the top once, each is decided once: page and counts of a response agree. */
export class ListScan<P, C extends P, T> {
  readonly #options: ListScanOptions<P, C, T>;
  /** What has been read from the top on, without a gap. */
  readonly #top: C[] = [];
  readonly #places = new Map<string, number>();
  readonly #decided = new Map<string, T | null>();
  #isAtEnd = false;
  #total: Promise<Count> | undefined;

  constructor(options: ListScanOptions<P, C, T>) {
    this.#options = options;
  }

  /** The same as the option, from what has been read already as far as that goes. */
  async scan(after: P | null, limit: number): Promise<readonly C[]> {
    const from = this.#placeAfter(after);
    if (from === null) return this.#options.scan(after, limit);
    await this.readUpTo(from + limit);
    return this.#top.slice(from, from + limit);
  }

  /** Those that may be shown; `ahead` are decided in the same round trip. */
  async select(candidates: readonly C[], ahead: readonly C[] = []): Promise<T[]> {
    await this.#decide([...candidates, ...ahead]);
    return candidates.flatMap((candidate) => this.#shown(candidate) ?? []);
  }

  /** What has been read of the list, from a place on. */
  read(from: number, to: number): readonly C[] {
    return this.#top.slice(from, to);
  }

  /** Reads on from the top until so many are known, or all. */
  async readUpTo(length: number): Promise<void> {
    while (!this.#isAtEnd && this.#top.length < length) {
      const missing = length - this.#top.length;
      const limit = this.#top.length === 0 ? Math.max(missing, this.#options.firstBite ?? 0) : missing;
      const candidates = await this.#options.scan(this.#top.at(-1) ?? null, limit);
      for (const candidate of candidates)
        this.#places.set(this.#options.idOf(candidate), this.#top.push(candidate) - 1);
      this.#isAtEnd = candidates.length < limit;
    }
  }

  /** How many entries the whole list has, those of the page included wherever it lies. */
  countTotal(page: readonly T[]): Promise<Count> {
    return (this.#total ??= this.#countTotal(page));
  }

  async #countTotal(page: readonly T[]): Promise<Count> {
    const ids = new Set(page.map((node) => this.#options.idOf(node)));
    for (let looked = 0; ids.size <= MAX_TOTAL; looked += MAX_BITE) {
      await this.readUpTo(looked + MAX_BITE);
      const next = this.#top.slice(looked, looked + MAX_BITE);
      for (const node of await this.select(next)) ids.add(this.#options.idOf(node));
      if (next.length < MAX_BITE) break;
    }
    return { count: Math.min(ids.size, MAX_TOTAL), isExact: ids.size <= MAX_TOTAL };
  }

  /** Null: not behind anything that has been read. */
  #placeAfter(after: P | null): number | null {
    if (after === null) return 0;
    const place = this.#places.get(this.#options.idOf(after));
    const candidate = place === undefined ? undefined : this.#top[place];
    if (place === undefined || candidate === undefined) return null;
    return this.#options.isAt(candidate, after) ? place + 1 : null;
  }

  #shown(candidate: C): T | null {
    return this.#decided.get(this.#options.idOf(candidate)) ?? null;
  }

  async #decide(candidates: readonly C[]): Promise<void> {
    const { idOf, select } = this.#options;
    const open = new Map<string, C>();
    for (const candidate of candidates)
      if (!this.#decided.has(idOf(candidate))) open.set(idOf(candidate), candidate);
    if (open.size === 0) return;
    const nodes = await select([...open.values()]);
    for (const id of open.keys()) this.#decided.set(id, null);
    for (const node of nodes) this.#decided.set(idOf(node), node);
  }
}
