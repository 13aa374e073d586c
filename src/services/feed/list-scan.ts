import type { Count } from '../shapes.ts';

/** The total is exact up to this number. */
export const MAX_TOTAL = 1_000;
/** Upper bound on candidates read at once beyond the page itself. */
export const MAX_BATCH = 500;

export interface ListScanOptions<P, C extends P, T> {
  /** The next candidates after a position, in order. Fewer than `limit` means the end. */
  readonly scan: (after: P | null, limit: number) => Promise<readonly C[]>;
  /** The visible ones, in the same order. */
  readonly select: (candidates: readonly C[]) => Promise<readonly T[]>;
  readonly idOf: (candidate: P | T) => string;
  /** Whether a candidate is still at a given position. */
  readonly isAt: (candidate: C, position: P) => boolean;
  /** Minimum number of candidates to read at the top of the list. */
  readonly firstBite?: number;
}

/** Reads candidates from the top at most once and decides each at most once, so that page and counts of a response agree. */
export class ListScan<P, C extends P, T> {
  readonly #options: ListScanOptions<P, C, T>;
  /** Candidates read from the top, without gaps. */
  readonly #top: C[] = [];
  readonly #places = new Map<string, number>();
  readonly #decided = new Map<string, T | null>();
  #isAtEnd = false;
  #total: Promise<Count> | undefined;

  constructor(options: ListScanOptions<P, C, T>) {
    this.#options = options;
  }

  /** Like the option, but reuses candidates that were already read. */
  async scan(after: P | null, limit: number): Promise<readonly C[]> {
    const from = this.#placeAfter(after);
    if (from === null) return this.#options.scan(after, limit);
    await this.readUpTo(from + limit);
    return this.#top.slice(from, from + limit);
  }

  /** The visible candidates; `ahead` are decided in the same round trip. */
  async select(candidates: readonly C[], ahead: readonly C[] = []): Promise<T[]> {
    await this.#decide([...candidates, ...ahead]);
    return candidates.flatMap((candidate) => this.#shown(candidate) ?? []);
  }

  /** Candidates already read, from an index on. */
  read(from: number, to: number): readonly C[] {
    return this.#top.slice(from, to);
  }

  /** Reads from the top until at least `length` candidates are known, or all. */
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

  /** Number of entries in the list. The page's items are counted even when the page lies beyond the counted part. */
  countTotal(page: readonly T[]): Promise<Count> {
    return (this.#total ??= this.#countTotal(page));
  }

  async #countTotal(page: readonly T[]): Promise<Count> {
    const ids = new Set(page.map((node) => this.#options.idOf(node)));
    for (let looked = 0; ids.size <= MAX_TOTAL; looked += MAX_BATCH) {
      await this.readUpTo(looked + MAX_BATCH);
      const next = this.#top.slice(looked, looked + MAX_BATCH);
      for (const node of await this.select(next)) ids.add(this.#options.idOf(node));
      if (next.length < MAX_BATCH) break;
    }
    return { count: Math.min(ids.size, MAX_TOTAL), isExact: ids.size <= MAX_TOTAL };
  }

  /** `null`: the position is not within the part that was read. */
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
