import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type GaugeConfiguration,
  type MetricObjectWithValues,
  type MetricValue,
  type MetricValueWithName,
} from 'prom-client';
import type { Lane } from '../domain/lane.ts';
import { OnDispose } from '../lib/closer.ts';

/** Cache hits and misses since the process started. */
interface CacheLookups {
  readonly hits: number;
  readonly misses: number;
}

/** Caches of a process: actions, names of members and refs, rendered parts of actions and notifications. */
type ReadCacheName = 'actions' | 'names' | 'parts';

type Counts = Readonly<Record<string, number>>;

/** For requests, in seconds. */
export const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const FAN_OUT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300];
export const LAG_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200];
const MAX_OPERATION_NAMES = 200;
const MAX_REASONS = 20;

export function metersIn(registry: Registry) {
  const registers = [registry];
  return {
    counter: <L extends string = never>(name: string, help: string, ...labelNames: readonly L[]) =>
      new Counter<L>({ name, help, labelNames, registers }),
    gauge: <L extends string = never>(
      name: string,
      help: string,
      more: Pick<GaugeConfiguration<L>, 'labelNames' | 'aggregator' | 'collect'> = {},
    ) => new Gauge<L>({ name, help, registers, ...more }),
    histogram: <L extends string>(
      name: string,
      help: string,
      buckets: number[],
      ...labelNames: readonly L[]
    ) => new Histogram<L>({ name, help, buckets, labelNames, registers }),
  };
}

export type Meters = ReturnType<typeof metersIn>;

/** Metrics of a part, with one method per event. */
export type DeclareMetrics<T = unknown> = (meters: Meters) => T;

// All processes read the same database: their values must not be summed.
const OF_ALL_PROCESSES = { aggregator: 'max' } as const;

/** Metrics collected at every scrape, until the result of `watch…` is disposed. */
function scrapedMetrics(registry: Registry, { gauge }: Meters) {
  const skews = new Sources<() => number>();
  gauge('fanfare_clock_skew_seconds', "Seconds by which the machine's clock is ahead of the database's.", {
    aggregator: 'average',
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
  const pendingByLane = gauge(
    'fanfare_fan_out_lane_pending',
    'Actions whose fan-out is pending or in progress, by lane.',
    { ...OF_ALL_PROCESSES, labelNames: ['lane'], collect: collectPending },
  );
  const pending = gauge('fanfare_fan_out_pending', 'Actions whose fan-out is pending or in progress.', {
    ...OF_ALL_PROCESSES,
    collect: collectPending,
  });
  const erasures = new Sources<() => Promise<Counts>>();
  gauge(
    'fanfare_erasures_open',
    'Unfinished erasures: RUNNING, or CONFIRMING (waiting for the second pass).',
    {
      ...OF_ALL_PROCESSES,
      labelNames: ['state'],
      async collect() {
        setEach(this, 'state', await allKnown(erasures));
      },
    },
  );
  const caches = new Sources<{ readonly cache: ReadCacheName; readonly lookups: () => CacheLookups }>();
  new Counter({
    name: 'fanfare_read_cache_lookups_total',
    help: 'Lookups in the read cache of a process; after a miss the value is read or rendered again.',
    labelNames: ['cache', 'outcome'],
    registers: [registry],
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
    /** Lead of the machine's clock over the database's, in seconds. */
    watchSkew: (seconds: () => number) => skews.watch(seconds),
    /** Number of actions with unfinished fan-out, by lane. */
    watchPending: (count: () => Promise<Counts>) => pendings.watch(count),
    /** Number of unfinished erasures, by state. */
    watchErasures: (count: () => Promise<Counts>) => erasures.watch(count),
    watchReadCache: (cache: ReadCacheName, lookups: () => CacheLookups) => caches.watch({ cache, lookups }),
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

/** Metrics of one process, to be merged with those of others. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Metrics of a process, with one method per event.
 * @param options.withProcess include Node's event loop, memory and handles. Default true.
 * @param options.parts metrics that are on the page before their part asks for them. Default: none.
 */
export function createMetrics(
  options: { readonly withProcess?: boolean; readonly parts?: readonly DeclareMetrics[] } = {},
) {
  const registry = new Registry();
  if (options.withProcess !== false) collectDefaultMetrics({ register: registry });
  const meters = metersIn(registry);
  const ofParts = new Map<DeclareMetrics, unknown>();
  /** The metrics of a part. */
  const of = <T>(declare: DeclareMetrics<T>): T => {
    if (!ofParts.has(declare)) ofParts.set(declare, declare(meters));
    // It was made by the same declaration.
    return ofParts.get(declare) as T;
  };
  options.parts?.forEach(of);
  return {
    of,
    ...scrapedMetrics(registry, meters),
    ...requestMetrics(meters),
    ...deliveryMetrics(meters),
    ...viewMetrics(meters),
    ...liveMetrics(meters),
    contentType: registry.contentType,
    metrics: (): Promise<string> => registry.metrics(),
    totals: (): Promise<Totals> => totalsIn(registry),
    /** The metrics as data. Unknown gauges are NaN, which JSON cannot represent. */
    snapshot: (): Promise<MetricsSnapshot> => registry.getMetricsAsJSON(),
  };
}

/** Values that are kept for the past hour, by the metric that sums them. */
const TOTALS = {
  published: 'fanfare_actions_published_total',
  deliveries: 'fanfare_fan_out_deliveries_total',
  failedAttempts: 'fanfare_fan_out_failed_attempts_total',
  requests: 'fanfare_graphql_requests_total',
  liveEvents: 'fanfare_live_events_sent_total',
  resyncs: 'fanfare_live_resyncs_total',
  watchers: 'fanfare_live_subscribers',
} as const;

/** Counts of this process since it started, and of watchers how many there are now. */
export interface Totals extends Readonly<Record<keyof typeof TOTALS, number>> {
  /** Requests with an error. */
  readonly errors: number;
  /** First deliveries that took at most so many seconds from publication. */
  readonly lags: ReadonlyMap<number, number>;
}

async function totalsIn(registry: Registry): Promise<Totals> {
  const valuesOf = async (name: string): Promise<readonly MetricValueWithName<string>[]> =>
    (await registry.getSingleMetric(name)?.get())?.values ?? [];
  const sumOf = (values: readonly { readonly value: number }[]): number =>
    values.reduce((sum, { value }) => sum + value, 0);
  const sums = await Promise.all(
    Object.entries(TOTALS).map(async ([field, name]) => [field, sumOf(await valuesOf(name))] as const),
  );
  const lags = new Map<number, number>();
  for (const { metricName = '', labels, value } of await valuesOf('fanfare_delivery_lag_seconds')) {
    const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le']);
    if (metricName.endsWith('_bucket')) lags.set(bound, (lags.get(bound) ?? 0) + value);
  }
  const requests = await valuesOf(TOTALS.requests);
  return {
    ...(Object.fromEntries(sums) as Record<keyof typeof TOTALS, number>),
    errors: sumOf(requests.filter(({ labels }) => labels['code'] !== 'OK')),
    lags,
  };
}

export interface RequestFigures {
  /** Name of the GraphQL operation; `null` when it is anonymous or could not be parsed. */
  readonly operation: string | null;
  /** `OK` or the code of the first error. */
  readonly code: string;
  readonly seconds: number;
}

function requestMetrics({ counter, histogram }: Meters) {
  const requests = counter(
    'fanfare_graphql_requests_total',
    'GraphQL requests by operation name and code of the first error.',
    'operation',
    'code',
  );
  const requestSeconds = histogram(
    'fanfare_graphql_request_seconds',
    'Time from the request to its answer.',
    REQUEST_BUCKETS,
    'operation',
  );
  const operationLabel = boundedLabel(MAX_OPERATION_NAMES);
  return {
    requestFinished({ operation, code, seconds }: RequestFigures): void {
      const label = operationLabel(operation ?? 'anonymous');
      requests.inc({ operation: label, code });
      requestSeconds.observe({ operation: label }, seconds);
    },
  };
}

export interface FanOutFigures {
  /** Result of the pass: `DONE`, `PENDING` (another pass follows) or `FAILED`. */
  readonly state: string;
  readonly delivered: number;
  readonly seconds: number;
}

export interface FeedModelFigures {
  /** Value of `FEED_MODEL`. */
  readonly model: string;
  readonly cap: number;
}

function viewMetrics({ counter }: Meters) {
  const feedReads = counter(
    'fanfare_feed_reads_total',
    'Pages of feeds, also of groups, by the view; (feed) and (list) are those of none.',
    'view',
  );
  const shown = counter(
    'fanfare_impressions_total',
    'Impressions that were recorded, by the view; (feed) is those of none.',
    'view',
  );
  const answers = counter(
    'fanfare_source_answers_total',
    'Questions to the sources of views, by the view and whether there was an answer that made sense: answered or failed.',
    'view',
    'outcome',
  );
  return {
    /** @param view one of the configuration, or that of what is none: there are few */
    feedRead: (view: string): void => feedReads.inc({ view }),
    itemsShown: (view: string, count: number): void => shown.inc({ view }, count),
    sourceAnswered: (view: string, outcome: 'answered' | 'failed'): void => answers.inc({ view, outcome }),
  };
}

function deliveryMetrics({ counter, gauge, histogram }: Meters) {
  const published = counter(
    'fanfare_actions_published_total',
    'Actions recorded; replays of an idempotency key do not count.',
  );
  const deliveries = counter('fanfare_fan_out_deliveries_total', 'Feed entries added or raised.');
  const fanOutSeconds = histogram(
    'fanfare_fan_out_seconds',
    'Time of one pass over the audience of an action, by the state it ended in.',
    FAN_OUT_BUCKETS,
    'state',
  );
  const lagSeconds = histogram(
    'fanfare_delivery_lag_seconds',
    'Time from when an action was recorded to the end of its first delivery, by the lane it came in.',
    LAG_BUCKETS,
    'lane',
  );
  const failures = counter('fanfare_fan_out_failed_attempts_total', 'Passes that ended with an error.');
  const lostLeases = counter(
    'fanfare_fan_out_lost_leases_total',
    'Passes given up because another worker took the action over.',
  );
  const feedModel = gauge(
    'fanfare_feed_model_info',
    'Always 1; its labels say how feeds are stored and how many entries of each.',
    { labelNames: ['model', 'cap'], aggregator: 'max' },
  );
  const readsWithoutStore = counter(
    'fanfare_feed_reads_without_store_total',
    'Feed reads served from the actions because the feed store could not be reached.',
  );
  return {
    /** Newly recorded actions, without replays of an idempotency key. */
    actionsPublished: (count: number): void => published.inc(count),
    fanOutFinished({ state, delivered, seconds }: FanOutFigures): void {
      deliveries.inc(delivered);
      fanOutSeconds.observe({ state }, seconds);
    },
    /** The first delivery to the whole audience of an action is complete. */
    actionDelivered: ({
      lane,
      lagSeconds: lag,
    }: {
      readonly lane: Lane;
      readonly lagSeconds: number;
    }): void => lagSeconds.observe({ lane }, lag),
    fanOutAttemptFailed: (): void => failures.inc(),
    leaseLost: (): void => lostLeases.inc(),
    feedModelChosen: ({ model, cap }: FeedModelFigures): void => feedModel.set({ model, cap }, 1),
    /** A feed was read from the actions because the feed store could not be reached. */
    feedReadWithoutStore: (): void => readsWithoutStore.inc(),
  };
}

export type LiveTransport = 'websocket' | 'sse';

function liveMetrics({ counter, gauge }: Meters) {
  const subscribers = gauge('fanfare_live_subscribers', 'Open feed subscriptions.', {
    labelNames: ['transport'],
  });
  const liveEvents = counter(
    'fanfare_live_events_sent_total',
    'Events sent to subscribers, by kind.',
    'kind',
  );
  const resyncs = counter(
    'fanfare_live_resyncs_total',
    'Resyncs: times a subscriber was notified that events may be missing.',
    'reason',
  );
  const reasonLabel = boundedLabel(MAX_REASONS);
  return {
    liveEventSent: (kind: string): void => liveEvents.inc({ kind }),
    liveResync: (reason: string): void => resyncs.inc({ reason: reasonLabel(reason) }),
    /** Counts a subscriber until disposed. Disposing is idempotent. */
    subscriberOpened(transport: LiveTransport): Disposable {
      subscribers.inc({ transport });
      return new OnDispose(() => subscribers.dec({ transport }));
    },
  };
}
