/** Where it is kept: what `idb-keyval` exports, or anything that does the same. A `set` that is over has been kept. */
export interface OfflineStore {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  del(key: string): Promise<void>;
  keys(): Promise<readonly unknown[]>;
}

export interface OfflineProblem {
  /**
   * `corrupt`: what was kept made no sense, and was thrown away. `full`: there is no room, so this is not kept. `unavailable`: the store
   * fails, so nothing outlives the page.
   */
  readonly kind: 'corrupt' | 'full' | 'unavailable';
  readonly message: string;
}

export interface KeeperOptions {
  readonly store: OfflineStore;
  readonly onProblem?: (problem: OfflineProblem) => void;
}

/** Before each key: a store may be used for other things too. */
const PREFIX = 'fanfare ';

/** The keys of this package in a store. One that fails is replaced by one that lasts as long as the page. */
export class Keeper {
  #store: OfflineStore;
  readonly #onProblem: (problem: OfflineProblem) => void;

  constructor({ store, onProblem = () => undefined }: KeeperOptions) {
    this.#store = store;
    this.#onProblem = onProblem;
  }

  say(kind: OfflineProblem['kind'], message: string): void {
    this.#onProblem({ kind, message });
  }

  /** Removes what is of another reader, or of an unknown one. */
  async open(readerKey: string): Promise<void> {
    try {
      if ((await this.get('who')) === readerKey) return;
      await wipe(this.#store);
      await this.set('who', readerKey);
    } catch (error) {
      this.say('unavailable', `The store fails, and nothing outlives the page: ${String(error)}`);
      this.#store = memoryStore();
    }
  }

  get(key: string): Promise<unknown> {
    return this.#store.get(PREFIX + key);
  }

  set(key: string, value: unknown): Promise<void> {
    return this.#store.set(PREFIX + key, value);
  }

  del(key: string): Promise<void> {
    return this.#store.del(PREFIX + key);
  }

  /** Those that begin with this, without it, in their order. */
  async keys(start: string): Promise<readonly string[]> {
    const own = await keysIn(this.#store, PREFIX + start);
    return own.map((key) => key.slice(PREFIX.length + start.length)).sort();
  }

  /** What is still under way is kept for the page alone. */
  async clear(): Promise<void> {
    const former = this.#store;
    this.#store = memoryStore();
    await wipe(former);
  }
}

async function keysIn(store: OfflineStore, start: string): Promise<readonly string[]> {
  const keys = await store.keys();
  return keys.filter((key): key is string => typeof key === 'string' && key.startsWith(start));
}

async function wipe(store: OfflineStore): Promise<void> {
  for (const key of await keysIn(store, PREFIX)) await store.del(key);
}

function memoryStore(): OfflineStore {
  const kept = new Map<string, unknown>();
  return {
    get: (key) => Promise.resolve(kept.get(key)),
    set: (key, value) => Promise.resolve(void kept.set(key, value)),
    del: (key) => Promise.resolve(void kept.delete(key)),
    keys: () => Promise.resolve([...kept.keys()]),
  };
}

/** Runs while no other tab of this reader runs the same; where browsers have no locks, in this tab alone. */
export async function alone<T>(name: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  const { navigator: of } = globalThis as { readonly navigator?: Partial<Navigator> };
  if (of?.locks === undefined) return run();
  const held: Promise<T>[] = [];
  await of.locks
    .request(name, { signal }, async () => {
      const running = run();
      held.push(running);
      await running.catch(() => undefined);
    })
    .catch(() => signal.throwIfAborted());
  // A page that may store nothing gets no locks.
  return held[0] ?? run();
}

export function isFull(error: unknown): boolean {
  return (error as { readonly name?: unknown } | null)?.name === 'QuotaExceededError';
}
