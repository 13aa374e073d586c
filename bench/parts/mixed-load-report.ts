import { formatNumber } from '../harness/format.ts';
import type { LoadResult } from '../harness/latencies.ts';
import type { Answered, LoadOutcome } from '../harness/open-loop.ts';
import type { UsageOverTime } from '../harness/process-usage.ts';
import { judge, type Figure, type PartReport, type Table } from '../harness/report.ts';
import { ratioOf, seriesNamed, summaryOf, type Series } from '../harness/rounds.ts';
import { once, quantile } from '../harness/statistics.ts';
import { PUBLISHING, RAW_INSERT } from '../world/load-mix.ts';
import type { Ladder } from './load-ladder.ts';

/** What came to the sockets of the watchers. */
export interface Push {
  readonly events: Readonly<Record<string, number>>;
  /** From the sending of a mutation to each receipt. */
  readonly milliseconds: readonly number[];
}

export interface MixedLoad {
  readonly about: string;
  readonly ladder: Ladder;
  /** Arrivals a second, the raw inserts among them. */
  readonly rate: number;
  readonly seconds: number;
  readonly windows: number;
  readonly outcome: LoadOutcome;
  readonly answered: readonly Answered[];
  readonly processes: readonly UsageOverTime[];
  readonly push: Push;
}

const PUBLISH = 'publish mutation, p50';
const INSERT = 'raw insertOne by the driver, p50';
/** A median of fewer says little: then there are fewer windows. */
const FEWEST_IN_WINDOW = 10;

export function mixedLoadReport(measured: MixedLoad): PartReport {
  const { about, ladder, rate, seconds, outcome, processes, push } = measured;
  const series = windowed(measured);
  const { all, lateness, results } = outcome;
  const sustained: Figure = {
    name: 'highest rate sustained',
    unit: 'operations/s',
    summary: once(ladder.highest, 'highest rate'),
    note: `p99 of all operations at most ${String(ladder.bounds.p99)} ms, all fan-outs done within ${String(ladder.bounds.behind / 1_000)} s of the last arrival`,
  };
  const figures: Figure[] = [
    {
      name: 'throughput of the measured run',
      unit: 'operations/s',
      summary: once(outcome.throughput, 'throughput'),
      note: `p99 ${formatNumber(all.p99)} ms`,
    },
    ...series.map((entry) => ({ name: entry.name, unit: 'ms', summary: summaryOf(entry) })),
  ];
  return {
    title: 'Mixed load',
    about: [
      about,
      `An open-loop generator starts operations at a fixed rate for ${seconds.toFixed(0)} s, whatever becomes of those before, over HTTP with connections kept: nine reads (first pages and further ones) to one write (publish, like, comment, follow); members chosen evenly, refs and recent actions by Zipf’s law. Each operation is measured from when it should have started, so that waiting counts.`,
      `The rate was found first: a ladder of rates, each two fifths above the one before, until one is not sustained twice. The measured run is at half of the highest that was: ${formatNumber(rate)} arrivals/s.`,
      'Publish and raw insert: turn about, under the same load, by the same process, from the sending; the raw insert writes a document as the server writes it into a collection with the same indexes. Medians of windows of the run, with the lowest and the highest window.',
      'Engine, gateway, Redis, API, worker, generator and sockets share the machine. Cores: CPU time by the time that went by. Memory: resident, pages shared by processes divided among them.',
    ],
    figures,
    verdicts: [
      judge('mixedLoad', sustained),
      judge('publish', {
        name: `${PUBLISH} / ${INSERT}`,
        unit: '×',
        summary: ratioOf(seriesNamed(series, PUBLISH), seriesNamed(series, INSERT)),
        note: `at ${formatNumber(rate)} arrivals/s, half of the highest rate sustained`,
      }),
    ],
    tables: [
      latencyTable([...results, all, lateness]),
      pushTable(push),
      processTable(processes),
      ladderTable(ladder),
    ],
    charts: [
      {
        kind: 'curves',
        name: 'mixed-load',
        title: 'Slowest of so many operations, at half of the highest rate sustained',
        xLabel: 'the slowest one of (10 is p90, 100 is p99, 1,000 is p99.9)',
        unit: 'ms',
        curves: results
          .filter(({ count }) => count > 0)
          .map(({ name, p50, p90, p99, p999 }) => ({
            label: name,
            points: [
              { x: 2, y: p50 },
              { x: 10, y: p90 },
              { x: 100, y: p99 },
              { x: 1_000, y: p999 },
            ],
          })),
      },
      {
        kind: 'curves',
        name: 'mixed-load-ladder',
        title: 'p99 of all operations by rate',
        xLabel: 'arrivals a second',
        unit: 'ms',
        curves: [
          { label: 'p99', points: ladder.steps.map((step) => ({ x: step.rate, y: step.all.p99 })) },
          { label: 'p50', points: ladder.steps.map((step) => ({ x: step.rate, y: step.all.p50 })) },
        ],
      },
    ],
    raw: {
      rate,
      seconds,
      ladder: withoutHistograms(ladder),
      outcome,
      windows: series,
      processes,
      events: push.events,
    },
  };
}

/** The p50s of publishing and of the raw insert, window by window. */
function windowed({ answered, windows: most, seconds }: MixedLoad): readonly Series[] {
  const named = (operation: string): readonly Answered[] =>
    answered.filter((one) => one.operation.name === operation);
  const [publishes, inserts] = [named(PUBLISHING), named(RAW_INSERT)];
  const windows = Math.min(most, Math.max(1, Math.floor(inserts.length / FEWEST_IN_WINDOW)));
  const length = (seconds * 1_000) / windows;
  const p50 = (name: string, list: readonly Answered[]): Series => ({
    name,
    values: Array.from({ length: windows }, (_, window) => {
      // What is answered after the last arrival belongs to the last window.
      const inWindow = list.filter(({ at }) => Math.min(windows - 1, Math.floor(at / length)) === window);
      return quantile(
        inWindow.map((one) => one.sinceStarted),
        0.5,
      );
    }),
  });
  return [p50(PUBLISH, publishes), p50(INSERT, inserts)];
}

/** Of a step of the ladder its percentiles say enough. */
function withoutHistograms({ steps, ...rest }: Ladder): Readonly<Record<string, unknown>> {
  return {
    ...rest,
    steps: steps.map(({ all: { histogram: _histogram, ...all }, ...step }) => ({ ...step, all })),
  };
}

function latencyTable(results: readonly LoadResult[]): Table {
  return {
    columns: ['operation', 'answered', 'p50 ms', 'p90 ms', 'p99 ms', 'p99.9 ms', 'slowest ms'],
    rows: results.map(({ name, count, p50, p90, p99, p999, max }) => [
      name,
      count,
      // One of a hundred is not to be known from fewer than a hundred.
      ...[
        { value: p50, fewest: 1 },
        { value: p90, fewest: 10 },
        { value: p99, fewest: 100 },
        { value: p999, fewest: 1_000 },
        { value: max, fewest: 1 },
      ].map(({ value, fewest }) => (count < fewest ? '–' : formatNumber(value))),
    ]),
  };
}

function pushTable({ events, milliseconds }: Push): Table {
  const row = (what: string, value: number, unit: string): readonly string[] => [
    what,
    Number.isNaN(value) ? '–' : `${formatNumber(value)} ${unit}`,
  ];
  return {
    columns: ['at the sockets', ''],
    rows: [
      ...Object.entries(events).map(([type, count]) => [type, count]),
      row('publish mutation sent → receipt, p50', quantile(milliseconds, 0.5), 'ms'),
      row('publish mutation sent → receipt, p99', quantile(milliseconds, 0.99), 'ms'),
    ],
  };
}

function processTable(processes: readonly UsageOverTime[]): Table {
  return {
    columns: ['process', 'cores', 'memory, mean MiB', 'memory, most MiB'],
    rows: processes.map(({ kind, cores, meanMiB, mostMiB }) => [
      kind,
      ...[cores, meanMiB, mostMiB].map(formatNumber),
    ]),
  };
}

function ladderTable({ steps }: Ladder): Table {
  return {
    columns: ['arrivals/s', 'answered/s', 'p50 ms', 'p99 ms', 'fan-outs behind ms', ''],
    rows: steps.map(({ rate, throughput, all, behind, reason }) => [
      rate,
      ...[throughput, all.p50, all.p99, behind].map(formatNumber),
      reason ?? 'sustained',
    ]),
  };
}
