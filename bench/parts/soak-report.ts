import type { LoadResult } from '../harness/latencies.ts';
import { formatNumber } from '../harness/format.ts';
import { fitLine, type Line } from '../harness/regression.ts';
import { judge, type Figure, type PartReport, type Table, type Verdict } from '../harness/report.ts';
import { once, type Summary } from '../harness/statistics.ts';
import type { Memory } from '../programs/probe.ts';

/** What both processes hold, in bytes, so many minutes after the start. */
export interface MemorySample {
  readonly minute: number;
  readonly api: Memory;
  readonly worker: Memory;
}

export interface Soak {
  readonly about: string;
  readonly rate: number;
  readonly minutes: number;
  readonly watching: number;
  /** What went before. */
  readonly warmUp: { readonly rate: number; readonly minutes: number };
  /** Share of the time that is left out of the trend. */
  readonly leftOut: number;
  readonly samples: readonly MemorySample[];
  readonly all: LoadResult;
}

interface Curve {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  /** Through what comes after the warm-up; x in minutes, y in MiB. */
  readonly line: Line;
}

const PER_MINUTES = 10;
/** Per ten minutes, as a share of the mean: what grows by less counts as not growing. */
const TRIVIAL = 0.01;
/** The same: measurements that scatter excuse no more than this. */
const MOST_EXCUSED = 0.05;
const MIB = 2 ** 20;

export function soakReport(measured: Soak): PartReport {
  const { about, rate, minutes, watching, warmUp, leftOut, samples, all } = measured;
  const counted = samples.filter(({ minute }) => minute >= minutes * leftOut);
  const curve = (name: string, bytes: (sample: MemorySample) => number): Curve => {
    const points = (list: readonly MemorySample[]) =>
      list.map((sample) => ({ x: sample.minute, y: bytes(sample) / MIB }));
    return { name, points: points(samples), line: fitLine(points(counted)) };
  };
  const inUse = ({ heapUsed, external, code }: Memory): number => heapUsed + external - code;
  const curves = [
    curve('API, heap and buffers', ({ api }) => inUse(api)),
    curve('API, resident', ({ api }) => api.rss),
    curve('worker, heap and buffers', ({ worker }) => inUse(worker)),
    curve('worker, resident', ({ worker }) => worker.rss),
  ];
  const code = [
    curve('API, code', ({ api }) => api.code),
    curve('worker, code', ({ worker }) => worker.code),
  ];
  return {
    title: 'Soak',
    about: [
      about,
      `The mixed load at ${String(rate)} arrivals/s for ${formatNumber(minutes)} minutes, with ${String(watching)} watchers, of whom a twentieth leave and come back between two looks. Memory of API and worker is looked at ${String(samples.length)} times, each time after collections of garbage. Heap and buffers: what is in use, without the code of functions. Code: Node compiles a function when it has been called often enough, so this goes on rising for a while, and is bounded by the functions there are. Resident: all of it as the system counts, with what the process keeps for later; the least of the second after a collection, since what has been freed is given back a moment later.`,
      `Before: ${formatNumber(warmUp.minutes)} minutes of warm-up at ${String(warmUp.rate)} arrivals/s. The first ${String(leftOut * 100)} % of the time after it are left out. Through the rest goes a straight line; the standard error of its slope is widened for looks that resemble the ones before. The verdict is slope / (2 × standard error): above 1 it grows. A growth of less than ${String(TRIVIAL * 100)} % in ${String(PER_MINUTES)} minutes counts as none, and however much the looks scatter, more than ${String(MOST_EXCUSED * 100)} % counts as growth. Below 0 it shrinks. In parentheses: the slope less and plus its two errors.`,
    ],
    figures: [
      ...[...curves, ...code].map(meanOf),
      {
        name: 'operations answered',
        unit: '',
        summary: once(all.count, 'operations'),
        note: `p99 ${formatNumber(all.p99)} ms`,
      },
    ],
    verdicts: curves.map(verdictOf),
    tables: [trendTable([...curves, ...code])],
    charts: [
      {
        kind: 'curves',
        name: 'soak',
        title: 'Memory over the soak',
        xScale: 'linear',
        xLabel: 'minutes',
        unit: 'MiB',
        curves: [...curves, ...code].map(({ name, points }) => ({ label: name, points })),
      },
    ],
    raw: {
      rate,
      minutes,
      warmUp,
      leftOut,
      samples,
      all,
      lines: [...curves, ...code].map(({ name, line }) => ({ name, ...line })),
    },
  };
}

function meanOf({ name, points, line }: Curve): Figure {
  const values = points.slice(-line.count).map(({ y }) => y);
  const summary: Summary = {
    median: line.mean,
    min: Math.min(...values),
    max: Math.max(...values),
    count: line.count,
  };
  return { name: `${name}, mean after warm-up`, unit: 'MiB', summary };
}

/** Not by `summarise`: what shrinks is below zero, which is no mistake here. */
function verdictOf({ name, line }: Curve): Verdict {
  const { slope, standardError, mean, count } = line;
  const error = 2 * standardError;
  const share = (part: number): number => (part * mean) / PER_MINUTES;
  const allowed = Math.max(share(TRIVIAL), Math.min(share(MOST_EXCUSED), error));
  return judge('soak', {
    name: `${name}: slope / what counts as none`,
    unit: '×',
    summary: {
      median: slope / allowed,
      min: (slope - error) / allowed,
      max: (slope + error) / allowed,
      count,
    },
    note: `${signed(slope * PER_MINUTES)} ± ${formatNumber(error * PER_MINUTES)} MiB in ${String(PER_MINUTES)} minutes, of ${formatNumber(mean)} MiB`,
  });
}

function trendTable(curves: readonly Curve[]): Table {
  return {
    columns: ['after warm-up', 'looks', 'mean MiB', 'slope, MiB in 10 minutes', '2 × standard error', 'in %'],
    rows: curves.map(({ name, line: { slope, standardError, mean, count } }) => [
      name,
      count,
      formatNumber(mean),
      signed(slope * PER_MINUTES),
      formatNumber(2 * standardError * PER_MINUTES),
      signed(((slope * PER_MINUTES) / mean) * 100),
    ]),
  };
}

function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${formatNumber(value)}`;
}
