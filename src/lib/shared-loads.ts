export interface SharedLoadsOptions<K, V> {
  /** Loads many keys at once. Results in any order, each once, missing ones left out. */
  readonly load: (keys: readonly K[]) => Promise<readonly V[]>;
  /** Keys with the same name are the same. */
  readonly nameOf: (key: K) => string;
  /** The name of the key that a result belongs to. */
  readonly resultName: (result: V) => string;
  /** Most keys of one load. */
  readonly maxBatch: number;
}

interface Batch<K, V> {
  readonly keys: Map<string, K>;
  readonly results: Promise<ReadonlyMap<string, V>>;
  readonly start: () => Promise<void>;
}

/** Loads under way at once. While they are, what is asked for gathers: the busier it is, the larger the batches. */
const AT_ONCE = 2;

/**
 * Loads for many who ask in the same moment: a key waits for the others of this turn of the event loop and for its own
 * turn, and whoever asks for it meanwhile shares it. Nobody is given the result of a load that began before they asked,
 * and nothing is kept. A load that fails fails for those who wait for it.
 */
export class SharedLoads<K, V> {
  readonly #options: SharedLoadsOptions<K, V>;
  #waiting: Batch<K, V>[] = [];
  #underWay = 0;
  #isScheduled = false;

  constructor(options: SharedLoadsOptions<K, V>) {
    this.#options = options;
  }

  /** What there is of these keys, in their order. */
  async find(keys: readonly K[]): Promise<V[]> {
    const names = keys.map((key) => this.#options.nameOf(key));
    const batches = keys.map((key, index) => this.#join(names[index] ?? '', key));
    if (batches.length > 0) this.#schedule();
    const results = await Promise.all(batches.map((batch) => batch.results));
    return names.flatMap((name, index) => {
      const result = results[index]?.get(name);
      return result === undefined ? [] : [result];
    });
  }

  #join(name: string, key: K): Batch<K, V> {
    const known = this.#waiting.find(({ keys }) => keys.has(name));
    if (known !== undefined) return known;
    let last = this.#waiting.at(-1);
    if (last === undefined || last.keys.size >= this.#options.maxBatch) {
      last = this.#newBatch();
      this.#waiting.push(last);
    }
    last.keys.set(name, key);
    return last;
  }

  #newBatch(): Batch<K, V> {
    const { load, resultName } = this.#options;
    const keys = new Map<string, K>();
    let settle: (results: Promise<ReadonlyMap<string, V>>) => void = () => undefined;
    const results = new Promise<ReadonlyMap<string, V>>((resolve) => {
      settle = resolve;
    });
    const loadAll = async (): Promise<ReadonlyMap<string, V>> => {
      const found = await load([...keys.values()]);
      return new Map(found.map((result) => [resultName(result), result]));
    };
    const start = async (): Promise<void> => {
      const loading = loadAll();
      settle(loading);
      await loading.catch(() => {
        // Those who wait for the results are told.
      });
    };
    return { keys, results, start };
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Behind everything that has arrived in this turn.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#startNext();
    });
  }

  #startNext(): void {
    while (this.#underWay < AT_ONCE) {
      const batch = this.#waiting.shift();
      if (batch === undefined) return;
      this.#underWay += 1;
      void batch.start().then(() => {
        this.#underWay -= 1;
        this.#startNext();
      });
    }
  }
}
