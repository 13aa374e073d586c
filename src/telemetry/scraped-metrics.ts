import { Counter, Gauge, type Registry } from 'prom-client';
import { OnDispose } from '../lib/on-dispose.ts';

/** Cache hits and misses since the process started. */
interface CacheLookups {
  readonly hits: number;
  readonly misses: number;
}

/** Caches of a process: actions, names of members and refs, rendered parts of actions. */
type ReadCacheName = 'actions' | 'names' | 'parts';

type Counts = Readonly<Record<string, number>>;

/** Metrics collected at every scrape, until the result of `watch…` is disposed. */
export interface ScrapedMetrics {
  /** Lead of the machine's clock over the database's, in seconds. */
  watchSkew(seconds: () => number): Disposable;
  /** Number of actions with unfinished fan-out, by lane. */
  watchPending(count: () => Promise<Counts>): Disposable;
  /** Number of unfinished erasures, by state. */
  watchErasures(count: () => Promise<Counts>): Disposable;
  watchReadCache(cache: ReadCacheName, lookups: () => CacheLookups): Disposable;
}

// All processes read the same database: their values must not be summed.
const OF_ALL_PROCESSES = { aggregator: 'max' } as const;

export function scrapedMetrics(registers: Registry[]): ScrapedMetrics {
  const skews = new Sources<() => number>();
  new Gauge({
    name: 'fanfare_clock_skew_seconds',
    help: "Seconds by which the machine's clock is ahead of the database's.",
    aggregator: 'average',
    registers,
    collect() {
      for (const seconds of skews) this.set(seconds());
    },
  });
  const pendings = new Sources<() => Promise<Counts>>();
  // Both gauges use one query, whichever is collected first.
  const collectPending = coalesced(async () => {
    const known = await allKnown(pendings);
    const totals = (known ?? []).map((byLane) =>
      Object.values(byLane).reduce((sum, count) => sum + count, 0),
    );
    // Without an answer, report NaN: an old number would look like a quiet queue.
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
    help: 'Unfinished erasures: RUNNING, or CONFIRMING (waiting for the second pass).',
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
    help: 'Lookups in the read cache of a process; after a miss the value is read or rendered again.',
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

/** `null` when one of them did not answer. */
async function allKnown(sources: Iterable<() => Promise<Counts>>): Promise<readonly Counts[] | null> {
  const answers = await Promise.allSettled([...sources].map((count) => count()));
  const known = answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value);
  return known.length === answers.length ? known : null;
}

/** Leaves out unknown values. */
function setEach<T extends string>(gauge: Gauge<T>, label: T, known: readonly Counts[] | null): void {
  gauge.reset();
  for (const counts of known ?? [])
    for (const [name, count] of Object.entries(counts))
      gauge.set({ [label]: name } as Partial<Record<T, string>>, count);
}

/** Concurrent callers share one run. */
function coalesced(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () =>
    (running ??= run().finally(() => {
      running = null;
    }));
}
