import type { Chart } from './chart.ts';
import type { Provenance } from './machine.ts';
import type { Size } from './options.ts';
import type { Summary } from './statistics.ts';

/** A figure with its spread. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly summary: Summary;
  /** What has to be known to read it. */
  readonly note?: string;
}

/** Figures that are read best side by side. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** A figure beside the target that was set for it. */
export interface Verdict {
  /** Position in the table of targets. */
  readonly row: TargetRow;
  readonly figure: Figure;
  /** Null: fewer were measured than the target speaks of, which says nothing about it. */
  readonly isMet: boolean | null;
}

/** What one part of the benchmark found out. */
export interface PartReport {
  readonly title: string;
  /** What was measured, against what, and how. */
  readonly about: readonly string[];
  readonly figures: readonly Figure[];
  readonly verdicts: readonly Verdict[];
  readonly tables?: readonly Table[];
  readonly charts: readonly Chart[];
  /** Everything as it was measured. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** A report as it is kept. */
export interface KeptReport extends PartReport {
  readonly size: Size;
  readonly seconds: number;
  readonly provenance: Provenance;
}

interface Target {
  readonly what: string;
  readonly target: string;
  readonly isMet: (value: number) => boolean;
  /** How many sockets or subscribers it speaks of. */
  readonly of?: number;
}

const atLeast = (limit: number) => (value: number) => value >= limit;
const atMost = (limit: number) => (value: number) => value <= limit;

/** What the project sets out to reach, in the order of the table. */
export const TARGETS = {
  fanOut: {
    what: 'fan-out of a new action, items/s',
    target: '≥ 0.8 × raw unordered insertMany of the same documents',
    isMet: atLeast(0.8),
  },
  reachPeer: {
    what: '20,000 followers, publish → last follower’s socket, against the peer',
    target: '≥ 10 × faster',
    isMet: atLeast(10),
  },
  reachRaw: {
    what: '20,000 followers, publish → last follower’s socket, against the limit',
    target: '≤ 1.3 × raw insert of 20,000 items',
    isMet: atMost(1.3),
  },
  page: {
    what: 'feed page p50, service level, warm',
    target: '≤ 1.5 × the two raw queries',
    isMet: atMost(1.5),
  },
  httpPeer: {
    what: 'pages/s through HTTP GraphQL, against the peer’s readFeed',
    target: '≥ 50 ×',
    isMet: atLeast(50),
  },
  httpPage: {
    what: 'page through HTTP GraphQL, p50, one at a time',
    target: '≤ 1.2 × the two raw queries and bare Yoga with the same bytes',
    isMet: atMost(1.2),
  },
  pageCpu: {
    what: 'CPU of the API for a page as shown, warm',
    target: '≤ 1.5 ms',
    isMet: atMost(1.5),
  },
  pulledPage: {
    what: 'page of a reader of one pulled ref',
    target: '≤ 1.3 × that of a reader of none',
    isMet: atMost(1.3),
  },
  shownBefore: {
    what: 'pages/s as shown, 10 at a time, against an earlier commit',
    target: '≥ 3 ×',
    isMet: atLeast(3),
  },
  leanBefore: {
    what: 'pages/s lean, 10 at a time, against an earlier commit',
    target: '≥ 2.5 ×',
    isMet: atLeast(2.5),
  },
  eventsBefore: {
    what: 'events/s to 1,000 sockets, against an earlier commit',
    target: '≥ 2.5 ×',
    isMet: atLeast(2.5),
    of: 1_000,
  },
  capacity: {
    what: 'one activity of each of many sources at once, against the peer',
    target: '≥ 12 × faster',
    isMet: atLeast(12),
  },
  mixedLoad: {
    what: 'mixed load sustained at p99 ≤ 250 ms',
    target: '≥ 250 operations/s',
    isMet: atLeast(250),
  },
  growth: {
    what: 'page at 1 M items against 1 k items',
    target: '≤ 1.3 ×',
    isMet: atMost(1.3),
  },
  bump: {
    what: 'bump of an action with 10,000 items',
    target: '≤ 1.3 × raw unordered bulk update',
    isMet: atMost(1.3),
  },
  publish: {
    what: 'publish mutation p50 under the mixed load',
    target: '≤ 2 × one raw insert under the same load',
    isMet: atMost(2),
  },
  lanes: {
    what: 'publish, comment and hide until the watcher’s socket, with 500 fan-outs of an import pending',
    target: '≤ 2 × an idle server',
    isMet: atMost(2),
  },
  push: {
    what: 'events/s to 1,000 sockets',
    target: '≥ 0.5 × bare ws + Redis broadcast',
    isMet: atLeast(0.5),
  },
  pushLimit: {
    what: 'events/s to 1,000 sockets, against the least that stores and pushes',
    target: '≥ 0.5 × raw insert + one message + a string for each socket',
    isMet: atLeast(0.5),
  },
  lastReceipt: {
    what: 'one action to 1,000 sockets, last receipt',
    target: '≤ 0.1 s',
    isMet: atMost(0.1),
  },
  eventCpu: {
    what: 'CPU of the API for an event, 1,000 sockets',
    target: '≤ 35 µs',
    isMet: atMost(35),
  },
  eventCpuUsual: {
    what: 'CPU of the API for an event, against the usual ways',
    target: '≤ 0.7 × the better of graphql-redis-subscriptions and socket.io',
    isMet: atMost(0.7),
  },
  memory: {
    what: 'memory per idle subscriber, 10,000 of one process',
    target: '≤ 1.1 × bare graphql-ws',
    isMet: atMost(1.1),
    of: 10_000,
  },
  reachMany: {
    what: 'one action to 10,000 subscribers of one process, last receipt',
    target: '≤ 1.5 s',
    isMet: atMost(1.5),
    of: 10_000,
  },
  timeBuckets: {
    what: 'deliveries of the model `time-buckets`',
    target: '≥ 14,100 items/s, three times what it was',
    isMet: atLeast(14_100),
  },
  sizeBuckets: {
    what: 'deliveries of the model `size-buckets`',
    target: '≥ 7,800 items/s, three times what it was',
    isMet: atLeast(7_800),
  },
  topCache: {
    what: 'deliveries of the model `top-cache`',
    target: '≥ 4,200 items/s, three times what it was',
    isMet: atLeast(4_200),
  },
  hostile: {
    what: 'CPU of a request whose operation or actions come once, against a server without caches',
    target: '≤ 1.1 ×',
    isMet: atMost(1.1),
  },
  hostileMemory: {
    what: 'memory that a client takes whose operations and actions all differ, against the setting',
    target: '≤ 1 × READ_CACHE and what compiled operations may take',
    isMet: atMost(1),
  },
  plan: {
    what: 'fan-out lag that fanfare plan says, against real runs',
    target: 'within 25 %',
    isMet: (value) => value >= 0.75 && value <= 1.25,
  },
  soak: {
    what: 'growth of memory after warm-up in the soak',
    target: 'none: the slope is within its error',
    isMet: atMost(1),
  },
} as const satisfies Readonly<Record<string, Target>>;

export type TargetRow = keyof typeof TARGETS;

/**
 * Holds a measured figure against its target.
 * @param of how many were measured, where the target speaks of a number of them.
 */
export function judge(row: TargetRow, figure: Figure, of = Infinity): Verdict {
  const target: Target = TARGETS[row];
  return { row, figure, isMet: of < (target.of ?? 0) ? null : target.isMet(figure.summary.median) };
}

/** What a verdict says in a word. */
export function verdictOf({ isMet }: Pick<Verdict, 'isMet'>): string {
  if (isMet === null) return 'measured with fewer';
  return isMet ? 'met' : 'missed';
}
