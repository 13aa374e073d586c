import { OnDispose } from '../lib/closer.ts';
import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client';
import type { Lane } from '../domain/lane.ts';

/** Cache hits and misses since the process started. */
interface CacheLookups {
  readonly hits: number;
  readonly misses: number;
}

/** Caches of a process: actions, names of members and refs, rendered parts of actions. */
type ReadCacheName = 'actions' | 'names' | 'parts';

type Counts = Readonly<Record<string, number>>;

/** Metrics collected at every scrape, until the result of `watch…` is disposed. */
interface ScrapedMetrics {
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

function scrapedMetrics(registers: Registry[]): ScrapedMetrics {
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

const MAX_LENGTH = 64;
const OTHER = 'other';

/** Limits label values chosen by clients: the first `max` values are kept, later ones become `other`. */
function boundedLabel(max: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= max || value.length > MAX_LENGTH) return OTHER;
    known.add(value);
    return value;
  };
}

export interface RequestFigures {
  /** Name of the GraphQL operation; `null` when it is anonymous or could not be parsed. */
  readonly operation: string | null;
  /** `OK` or the code of the first error. */
  readonly code: string;
  readonly seconds: number;
}

export interface FanOutFigures {
  /** Result of the pass: `DONE`, `PENDING` (another pass follows) or `FAILED`. */
  readonly state: string;
  readonly delivered: number;
  readonly seconds: number;
}

export interface WebhookFigures {
  readonly receiver: string;
  readonly isTaken: boolean;
  readonly seconds: number;
}

export type LiveTransport = 'websocket' | 'sse';

/** Metrics of one process, to be merged with those of others. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

export interface FeedModelFigures {
  /** Value of `FEED_MODEL`. */
  readonly model: string;
  readonly cap: number;
}

/** One method per event. Callers take a `Pick` of the methods they use. */
export interface Metrics extends ScrapedMetrics {
  requestFinished(figures: RequestFigures): void;
  /** Newly recorded actions, without replays of an idempotency key. */
  actionsPublished(count: number): void;
  fanOutFinished(figures: FanOutFigures): void;
  /** The first delivery to the whole audience of an action is complete. */
  actionDelivered(delivery: { readonly lane: Lane; readonly lagSeconds: number }): void;
  fanOutAttemptFailed(): void;
  leaseLost(): void;
  feedModelChosen(figures: FeedModelFigures): void;
  erasureAttemptFailed(): void;
  /** A feed was read from the actions because the feed store could not be reached. */
  feedReadWithoutStore(): void;
  /** @param attempt.seconds from request to answer. */
  webhookAttempted(attempt: WebhookFigures): void;
  webhookGivenUp(receiver: string): void;
  /** Number of events a receiver is behind the log; `null`: another process tracks it. */
  webhookBehind(receiver: string, events: number | null): void;
  liveEventSent(kind: string): void;
  liveResync(reason: string): void;
  /** Counts a subscriber until disposed. Disposing is idempotent. */
  subscriberOpened(transport: LiveTransport): Disposable;
  readonly contentType: string;
  metrics(): Promise<string>;
  /** The metrics as data. Unknown gauges are NaN, which JSON cannot represent. */
  snapshot(): Promise<MetricsSnapshot>;
}

const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const FAN_OUT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300];
const LAG_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200];
const MAX_OPERATION_NAMES = 200;
const MAX_REASONS = 20;

/** @param options.withProcess include Node's event loop, memory and handles. Default true. */
export function createMetrics(options: { readonly withProcess?: boolean } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (options.withProcess !== false) collectDefaultMetrics({ register: registry });

  const requests = new Counter({
    name: 'fanfare_graphql_requests_total',
    help: 'GraphQL requests by operation name and code of the first error.',
    labelNames: ['operation', 'code'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'fanfare_graphql_request_seconds',
    help: 'Time from the request to its answer.',
    labelNames: ['operation'],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const published = new Counter({
    name: 'fanfare_actions_published_total',
    help: 'Actions recorded; replays of an idempotency key do not count.',
    registers,
  });
  const deliveries = new Counter({
    name: 'fanfare_fan_out_deliveries_total',
    help: 'Feed entries added or raised.',
    registers,
  });
  const fanOutSeconds = new Histogram({
    name: 'fanfare_fan_out_seconds',
    help: 'Time of one pass over the audience of an action, by the state it ended in.',
    labelNames: ['state'],
    buckets: FAN_OUT_BUCKETS,
    registers,
  });
  const lagSeconds = new Histogram({
    name: 'fanfare_delivery_lag_seconds',
    help: 'Time from when an action was recorded to the end of its first delivery, by the lane it came in.',
    labelNames: ['lane'],
    buckets: LAG_BUCKETS,
    registers,
  });
  const failures = new Counter({
    name: 'fanfare_fan_out_failed_attempts_total',
    help: 'Passes that ended with an error.',
    registers,
  });
  const lostLeases = new Counter({
    name: 'fanfare_fan_out_lost_leases_total',
    help: 'Passes given up because another worker took the action over.',
    registers,
  });
  const failedErasures = new Counter({
    name: 'fanfare_erasure_failed_attempts_total',
    help: 'Attempts at an erasure that ended with an error; each is retried.',
    registers,
  });
  const feedModel = new Gauge({
    name: 'fanfare_feed_model_info',
    help: 'Always 1; its labels say how feeds are stored and how many entries of each.',
    labelNames: ['model', 'cap'],
    aggregator: 'max',
    registers,
  });
  const readsWithoutStore = new Counter({
    name: 'fanfare_feed_reads_without_store_total',
    help: 'Feed reads served from the actions because the feed store could not be reached.',
    registers,
  });
  const subscribers = new Gauge({
    name: 'fanfare_live_subscribers',
    help: 'Open feed subscriptions.',
    labelNames: ['transport'],
    registers,
  });
  const liveEvents = new Counter({
    name: 'fanfare_live_events_sent_total',
    help: 'Events sent to subscribers, by kind.',
    labelNames: ['kind'],
    registers,
  });
  const resyncs = new Counter({
    name: 'fanfare_live_resyncs_total',
    help: 'Resyncs: times a subscriber was notified that events may be missing.',
    labelNames: ['reason'],
    registers,
  });
  const webhookSeconds = new Histogram({
    name: 'fanfare_webhook_seconds',
    help: 'Time of one attempt to send an event, by receiver and outcome.',
    labelNames: ['receiver', 'outcome'],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const webhooksGivenUp = new Counter({
    name: 'fanfare_webhook_given_up_total',
    help: 'Events that a receiver has not accepted until the last retry.',
    labelNames: ['receiver'],
    registers,
  });
  const webhooksBehind = new Gauge({
    name: 'fanfare_webhook_behind',
    help: 'Events of the log that have not been sent to a receiver yet, by the sending process.',
    labelNames: ['receiver'],
    registers,
  });
  const operationLabel = boundedLabel(MAX_OPERATION_NAMES);
  const reasonLabel = boundedLabel(MAX_REASONS);
  return {
    ...scrapedMetrics(registers),
    requestFinished({ operation, code, seconds }) {
      const label = operationLabel(operation ?? 'anonymous');
      requests.inc({ operation: label, code });
      requestSeconds.observe({ operation: label }, seconds);
    },
    actionsPublished: (count) => {
      published.inc(count);
    },
    fanOutFinished({ state, delivered, seconds }) {
      deliveries.inc(delivered);
      fanOutSeconds.observe({ state }, seconds);
    },
    actionDelivered({ lane, lagSeconds: lag }) {
      lagSeconds.observe({ lane }, lag);
    },
    fanOutAttemptFailed: () => {
      failures.inc();
    },
    leaseLost: () => {
      lostLeases.inc();
    },
    erasureAttemptFailed: () => {
      failedErasures.inc();
    },
    feedReadWithoutStore: () => {
      readsWithoutStore.inc();
    },
    webhookAttempted({ receiver, isTaken, seconds }) {
      webhookSeconds.observe({ receiver, outcome: isTaken ? 'taken' : 'failed' }, seconds);
    },
    webhookGivenUp: (receiver) => {
      webhooksGivenUp.inc({ receiver });
    },
    feedModelChosen({ model, cap }) {
      feedModel.set({ model, cap }, 1);
    },
    webhookBehind(receiver, events) {
      if (events === null) webhooksBehind.remove({ receiver });
      else webhooksBehind.set({ receiver }, events);
    },
    liveEventSent: (kind) => {
      liveEvents.inc({ kind });
    },
    liveResync: (reason) => {
      resyncs.inc({ reason: reasonLabel(reason) });
    },
    subscriberOpened(transport) {
      subscribers.inc({ transport });
      return new OnDispose(() => {
        subscribers.dec({ transport });
      });
    },
    contentType: registry.contentType,
    metrics: () => registry.metrics(),
    snapshot: () => registry.getMetricsAsJSON(),
  };
}
