export interface SharedLoadsOptions<K, V> {
  /** Loads many keys at once. Results by name; missing ones are left out. */
  readonly load: (keys: readonly K[]) => Promise<ReadonlyMap<string, V>>;
  /** Keys with equal names are equal. */
  readonly nameOf: (key: K) => string;
  readonly maxBatch: number;
  /** Milliseconds from the start of one load to that of the next, so that more gather meanwhile. Default: none. */
  readonly everyMs?: number;
}

interface Pending<K, V> {
  readonly key: K;
  readonly result: Promise<V | null>;
  readonly resolve: (result: V | null) => void;
  readonly reject: (error: unknown) => void;
}

/** By name. */
type Batch<K, V> = Map<string, Pending<K, V>>;

/** Concurrent loads. Requests gather while both are busy: the higher the load, the larger the batches. */
const AT_ONCE = 2;

/**
 * Batches loads of concurrent callers. A key joins the batch of the current turn of the event loop; callers that ask before
 * the batch is sent share the load. Nobody receives a result whose load began before they asked, and nothing is cached. A
 * failed load fails for all of its callers.
 */
export class SharedLoads<K, V> {
  readonly #options: SharedLoadsOptions<K, V>;
  #waiting: Batch<K, V>[] = [];
  #underWay = 0;
  #isScheduled = false;
  #nextAt = 0;

  constructor(options: SharedLoadsOptions<K, V>) {
    this.#options = options;
  }

  /** Resolves to `null` for a missing key. Callers that share a load get the same promise. */
  load(key: K): Promise<V | null> {
    const name = this.#options.nameOf(key);
    for (const batch of this.#waiting) {
      const known = batch.get(name);
      if (known !== undefined) return known.result;
    }
    const pending = newPending<K, V>(key);
    this.#openBatch().set(name, pending);
    this.#schedule();
    return pending.result;
  }

  #openBatch(): Batch<K, V> {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.size < this.#options.maxBatch) return last;
    const batch: Batch<K, V> = new Map();
    this.#waiting.push(batch);
    return batch;
  }

  async #run(batch: Batch<K, V>): Promise<void> {
    try {
      const found = await this.#options.load(Array.from(batch.values(), ({ key }) => key));
      for (const [name, { resolve }] of batch) resolve(found.get(name) ?? null);
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  }

  #schedule(ms = 0): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const start = (): void => {
      this.#isScheduled = false;
      this.#startNext();
    };
    // After everything that arrives in this turn of the event loop.
    if (ms === 0) setImmediate(start);
    else setTimeout(start, ms);
  }

  #startNext(): void {
    while (this.#underWay < AT_ONCE) {
      const now = performance.now();
      if (this.#waiting.length > 0 && now < this.#nextAt) {
        this.#schedule(this.#nextAt - now);
        return;
      }
      const batch = this.#waiting.shift();
      if (batch === undefined) return;
      this.#nextAt = now + (this.#options.everyMs ?? 0);
      this.#underWay += 1;
      void this.#run(batch).then(() => {
        this.#underWay -= 1;
        this.#startNext();
      });
    }
  }
}

function newPending<K, V>(key: K): Pending<K, V> {
  let resolve: Pending<K, V>['resolve'] = () => undefined;
  let reject: Pending<K, V>['reject'] = () => undefined;
  const result = new Promise<V | null>((onResult, onError) => {
    resolve = onResult;
    reject = onError;
  });
  return { key, result, resolve, reject };
}
