export interface SharedLoadsOptions<K, V> {
  /** Loads many keys at once. Results in any order, each once, missing ones left out. */
  readonly load: (keys: readonly K[]) => Promise<readonly V[]>;
  /** Keys with the same name are the same. */
  readonly nameOf: (key: K) => string;
  /** The name of the key that a result belongs to. */
  readonly resultName: (result: V) => string;
  readonly maxBatch: number;
}

interface Pending<K, V> {
  readonly key: K;
  readonly result: Promise<V | null>;
  readonly resolve: (result: V | null) => void;
  readonly reject: (error: unknown) => void;
}

/** By name. */
type Batch<K, V> = Map<string, Pending<K, V>>;

/** Loads under way at once. While they are, what is asked for gathers: the busier it is, the larger the batches. */
const AT_ONCE = 2;

/**
 * Loads for many who ask in the same moment: a key waits for the others of this turn of the event loop and for its own
 * turn, and callers that ask for it meanwhile share it. Nobody is given the result of a load that began before they asked,
 * and nothing is kept. A load that fails fails for all callers that wait for it.
 */
export class SharedLoads<K, V> {
  readonly #options: SharedLoadsOptions<K, V>;
  #waiting: Batch<K, V>[] = [];
  #underWay = 0;
  #isScheduled = false;

  constructor(options: SharedLoadsOptions<K, V>) {
    this.#options = options;
  }

  /** Null where there is none. All who share a load are given the same promise. */
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

  /** What there is of these keys, in their order. */
  async find(keys: readonly K[]): Promise<V[]> {
    const results = await Promise.all(keys.map((key) => this.load(key)));
    return results.filter((result) => result !== null);
  }

  #openBatch(): Batch<K, V> {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.size < this.#options.maxBatch) return last;
    const batch: Batch<K, V> = new Map();
    this.#waiting.push(batch);
    return batch;
  }

  async #run(batch: Batch<K, V>): Promise<void> {
    const { load, resultName } = this.#options;
    try {
      const found = await load(Array.from(batch.values(), ({ key }) => key));
      for (const result of found) batch.get(resultName(result))?.resolve(result);
      // What has been found is settled already.
      for (const { resolve } of batch.values()) resolve(null);
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
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
