/** A query that has more to give than its first page. */
export interface Cursor {
  readonly id: bigint;
  readonly db: string;
  /** The namespace it was opened on, `db.collection`. */
  readonly namespace: string;
  /** The logical session that opened it, as hex; empty when there was none. */
  readonly session: string;
  /** What the engine needs to go on. */
  continuation: Buffer;
  /** While a page is being fetched nobody else may go on with it. */
  isBusy: boolean;
  usedAt: number;
}

export interface CursorStoreOptions {
  /** Most open cursors; one more closes the one that was idle longest. */
  readonly limit: number;
  /** An idle cursor is closed after so many milliseconds. */
  readonly idleMs: number;
  /** Frees what the engine keeps for these cursors. */
  readonly discard: (ids: readonly bigint[]) => void;
}

/** The open cursors of all clients, least recently used first. */
export class CursorStore {
  readonly #options: CursorStoreOptions;
  readonly #cursors = new Map<bigint, Cursor>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: CursorStoreOptions) {
    this.#options = options;
    this.#timer = setInterval(
      () => {
        this.#expire();
      },
      Math.min(options.idleMs / 4, 30_000),
    ).unref();
  }

  get size(): number {
    return this.#cursors.size;
  }

  add(cursor: Omit<Cursor, 'isBusy' | 'usedAt'>): void {
    if (this.#cursors.size >= this.#options.limit) this.#evict();
    this.#cursors.set(cursor.id, { ...cursor, isBusy: false, usedAt: performance.now() });
  }

  get(id: bigint): Cursor | undefined {
    return this.#cursors.get(id);
  }

  /** Keeps the cursor for another page. */
  renew(cursor: Cursor, continuation: Buffer): void {
    cursor.continuation = continuation;
    cursor.usedAt = performance.now();
    // Moving it to the end keeps the map in the order of use.
    if (this.#cursors.delete(cursor.id)) this.#cursors.set(cursor.id, cursor);
  }

  /** Forgets a cursor that the engine has already finished. */
  remove(id: bigint): void {
    this.#cursors.delete(id);
  }

  /** Closes cursors before their end; gives the ids that were known. */
  kill(ids: readonly bigint[]): bigint[] {
    const known = ids.filter((id) => this.#cursors.delete(id));
    if (known.length > 0) this.#options.discard(known);
    return known;
  }

  killWhere(condition: (cursor: Cursor) => boolean): bigint[] {
    return this.kill([...this.#cursors.values()].filter(condition).map((cursor) => cursor.id));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#cursors.clear();
  }

  #expire(): void {
    const oldest = performance.now() - this.#options.idleMs;
    this.killWhere((cursor) => !cursor.isBusy && cursor.usedAt < oldest);
  }

  #evict(): void {
    for (const cursor of this.#cursors.values()) {
      if (cursor.isBusy) continue;
      this.kill([cursor.id]);
      return;
    }
  }
}
