import { Counter, Gauge, type Registry } from 'prom-client';
import { OnDispose } from '../lib/on-dispose.ts';

/** How often something was looked for in what a process holds of what it has read, since it was started. */
interface CacheLookups {
  readonly hits: number;
  readonly misses: number;
}

/** Of what is kept in memory: actions, names of members and refs, rendered parts of actions. */
type ReadCacheName = 'actions' | 'names' | 'parts';

type Counts = Readonly<Record<string, number>>;

/** What is asked for at every scrape, until what `watch…` has returned is disposed. */
export interface ScrapedMetrics {
  /** By how many seconds the machine's clock is ahead of the database's. */
  watchSkew(seconds: () => number): Disposable;
  /** Counts actions whose fan-out is not done, by lane. */
  watchPending(count: () => Promise<Counts>): Disposable;
  /** Counts erasures that are not done, by state. */
  watchErasures(count: () => Promise<Counts>): Disposable;
  watchReadCache(cache: ReadCacheName, lookups: () => CacheLookups): Disposable;
}

// Every process asks the same database: their answers are not to be added.
const OF_ALL_PROCESSES = { aggregator: 'max' } as const;

export function scrapedMetrics(registers: Registry[]): ScrapedMetrics {
  const skews = new Sources<() => number>();
  new Gauge({
    name: 'fanfare_clock_skew_seconds',
    help: "By how much the machine's clock is ahead of the database's.",
    aggregator: 'average',
    registers,
    collect() {
      for (const seconds of skews) this.set(seconds());
    },
  });
  const pendings = new Sources<() => Promise<Counts>>();
  // Gauges are collected side by side: both wait for one answer.
  const collectPending = coalesced(async () => {
    const known = await allKnown(pendings);
    const totals = (known ?? []).map((byLane) =>
      Object.values(byLane).reduce((sum, count) => sum + count, 0),
    );
    // Without an answer the gauges say so: a stale number would look like a quiet queue.
    pending.set(known === null ? Number.NaN : Math.max(0, ...totals));
    setEach(pendingByLane, 'lane', known);
  });
  const pendingByLane = new Gauge({
    name: 'fanfare_fan_out_lane_pending',
    help: 'Actions whose fan-out is pending or in progress, by lane.',
    ...OF_ALL_PROCESSES,
    labelNames: ['lane'],
    registers,
    collect: collectPending,
  });
  const pending = new Gauge({
    name: 'fanfare_fan_out_pending',
    help: 'Actions whose fan-out is pending or in progress.',
    ...OF_ALL_PROCESSES,
    registers,
    collect: collectPending,
  });
  const erasures = new Sources<() => Promise<Counts>>();
  new Gauge({
    name: 'fanfare_erasures_open',
    help: 'Erasures that are not done: RUNNING, or CONFIRMING, which wait for their second look.',
    ...OF_ALL_PROCESSES,
    labelNames: ['state'],
    registers,
    async collect() {
      setEach(this, 'state', await allKnown(erasures));
    },
  });
  const caches = new Sources<{ readonly cache: ReadCacheName; readonly lookups: () => CacheLookups }>();
  new Counter({
    name: 'fanfare_read_cache_lookups_total',
    help: 'Lookups in what a process holds of what it has read; a miss is read, or rendered, once more.',
    labelNames: ['cache', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const { cache, lookups } of caches) {
        const { hits, misses } = lookups();
        this.inc({ cache, outcome: 'hit' }, hits);
        this.inc({ cache, outcome: 'miss' }, misses);
      }
    },
  });
  return {
    watchSkew: (seconds) => skews.watch(seconds),
    watchPending: (count) => pendings.watch(count),
    watchErasures: (count) => erasures.watch(count),
    watchReadCache: (cache, lookups) => caches.watch({ cache, lookups }),
  };
}

class Sources<T> {
  readonly #sources = new Set<T>();

  watch(source: T): Disposable {
    this.#sources.add(source);
    return new OnDispose(() => this.#sources.delete(source));
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#sources.values();
  }
}

/** Null: one of them did not answer. */
async function allKnown(sources: Iterable<() => Promise<Counts>>): Promise<readonly Counts[] | null> {
  const answers = await Promise.allSettled([...sources].map((count) => count()));
  const known = answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value);
  return known.length === answers.length ? known : null;
}

/** What is not known is left out. */
function setEach<T extends string>(gauge: Gauge<T>, label: T, known: readonly Counts[] | null): void {
  gauge.reset();
  for (const counts of known ?? [])
    for (const [name, count] of Object.entries(counts))
      gauge.set({ [label]: name } as Partial<Record<T, string>>, count);
}

/** Who calls while it is under way gets the same run. */
function coalesced(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () =>
    (running ??= run().finally(() => {
      running = null;
    }));
}
