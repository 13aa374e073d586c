import { Closer } from '../../src/lib/closer.ts';
import { openLoop, percentiles, type LoadOutcome, type LoadResult } from '../harness/open-loop.ts';
import type { Options } from '../harness/options.ts';
import { sized, type Part, type PartContext } from '../harness/part.ts';
import { cpuByKind } from '../harness/process-usage.ts';
import { seededRandom } from '../harness/random.ts';
import { atLeast, atMost, type PartReport, type Table } from '../harness/report.ts';
import { figureOf, ratioFigure, seriesNamed, type Series } from '../harness/rounds.ts';
import { formatNumber, now, once, quantile, untilDone } from '../harness/statistics.ts';
import { PUBLISHING, RAW_INSERT } from '../world/load-mix.ts';
import { openLoadWorld, type LoadWorld } from '../world/load-world.ts';
import { openFanOuts } from '../world/raw.ts';

const SEED = 7;
const MOST_OPEN = 2_000;
/** More arrivals than come in so many seconds must not be unanswered in a step of the ladder. */
const MOST_OPEN_SECONDS = 2;
/** A step that is not sustained gets another chance: one hiccup of the machine is not its limit. */
const CHANCES = 2;
/** Operations a second of a first step whose outcome does not count. */
const WARM_UP_RATE = 20;
const PUBLISH = 'publish mutation, p50';
const INSERT = 'raw insertOne by the driver, p50';
/** A median of fewer says little: then there are fewer windows. */
const FEWEST_IN_WINDOW = 10;

/** What a step has to keep to be sustained, in milliseconds: 99 of 100 operations; every fan-out, from the last arrival. */
const BOUNDS = { p99: 250, behind: 5_000 };

interface Step {
  readonly rate: number;
  readonly all: LoadResult;
  readonly throughput: number;
  /** Milliseconds until every fan-out was done. */
  readonly behind: number;
  /** Null when it was sustained. */
  readonly reason: string | null;
}

/** Many readers at once through HTTP and WebSocket, arriving at a fixed rate whatever becomes of those before. */
export const mixedLoadPart: Part = { name: 'mixed-load', run };

async function run(context: PartContext): Promise<PartReport> {
  const { options, say } = context;
  await using closer = new Closer();
  const sizes = sized(options, {
    full: { readers: 5_000, actions: 1_000, active: 2_000, watching: 300 },
    short: { readers: 2_000, actions: 100, active: 1_000, watching: 100 },
    smoke: { readers: 100, actions: 10, active: 100, watching: 50 },
  });
  const load = await openLoadWorld(context, closer, sizes);
  const steps = await climb(load, options, say);
  const rate = highestOf(steps) / 2;
  const seconds = 60 * (options.loadMinutes ?? sized(options, { full: 3, short: 0.5, smoke: 0.07 }));
  say(`${rate.toFixed(0)} operations/s for ${seconds.toFixed(0)} s`);
  await load.watchers.call('forget', null);
  const startedAt = now();
  const kinds = new Map([
    [process.pid, 'generator'],
    [load.api.pid, 'api'],
    [load.worker.pid, 'worker'],
    [load.watchers.pid, 'sockets'],
  ]);
  const before = cpuByKind(kinds);
  const outcome = await openLoop({
    ...{ shares: load.mix.shares, rate, seconds, maxOpen: MOST_OPEN, random: seededRandom(SEED) },
  });
  const took = (now() - startedAt) / 1_000;
  const cores = Array.from(cpuByKind(kinds), ([kind, cpu]) => ({
    kind,
    cores: (cpu - (before.get(kind) ?? 0)) / took,
  }));
  expectHealthy(outcome);
  const windows = sized(options, { full: 6, short: 3, smoke: 1 });
  const series = windowed(outcome, seconds, windows);
  const push = await pushOf(load, startedAt);
  const { all, lateness, results, throughput } = outcome;
  return {
    title: 'Mixed load',
    about: [
      load.about,
      `An open-loop generator starts operations at a fixed rate for ${seconds.toFixed(0)} s, whatever becomes of those before, over HTTP with connections kept: nine reads (first pages and further ones) to one write (publish, like, comment, follow); members chosen evenly, refs and recent actions by Zipf’s law. Each operation is measured from when it should have started, so that waiting counts. The rate was found first, by a ladder of rates, each two fifths above the one before, until one is not sustained twice; the measured run is at half of the highest that was: ${formatNumber(rate)} arrivals/s.`,
      'Publish and raw insert: turn about, under the same load, by the same process, from the sending; medians of windows of the run. Engine, gateway, Redis, API, worker, generator and sockets share the machine.',
      `Cores at work: ${cores.map((entry) => `${entry.kind} ${formatNumber(entry.cores)}`).join(', ')}.`,
    ],
    figures: [
      atLeast(250, 'operations/s', {
        ...{ name: 'highest rate sustained', unit: 'operations/s' },
        summary: once(highestOf(steps), 'highest rate'),
        note: `p99 at most ${String(BOUNDS.p99)} ms, all fan-outs done within ${String(BOUNDS.behind / 1_000)} s of the last arrival`,
      }),
      ...series.map((entry) => figureOf(entry, 'ms')),
      atMost(
        2,
        '× one raw insert under the same load',
        ratioFigure(`${PUBLISH} / ${INSERT}`, seriesNamed(series, PUBLISH), seriesNamed(series, INSERT)),
      ),
    ],
    tables: [latencyTable([...results, all, push.receipts, lateness])],
    raw: {
      about: load.about,
      steps,
      rate,
      seconds,
      outcome: { all, lateness, results, throughput },
      cores,
      windows: series,
      push,
    },
  };
}

/** Each step by two fifths above the one before. */
function ratesUp(steps: number): readonly number[] {
  return Array.from({ length: steps }, (_, step) => Math.round(5 * 1.4 ** step));
}

/** The highest rate that was sustained, in operations a second. @throws Error when none was. */
function highestOf(steps: readonly Step[]): number {
  const sustained = steps.filter(({ reason }) => reason === null);
  if (sustained.length === 0)
    throw new Error(`Not even the lowest rate is sustained: ${steps.at(-1)?.reason ?? ''}`);
  return Math.max(...sustained.map(({ rate }) => rate));
}

/** Raises the rate step by step until it is not sustained any more. */
async function climb(
  load: LoadWorld,
  options: Options,
  say: (line: string) => void,
): Promise<readonly Step[]> {
  // Of a cold server nothing is asked yet.
  await take(load, WARM_UP_RATE, options);
  const steps: Step[] = [];
  for (const rate of sized(options, { full: ratesUp(18), short: ratesUp(14), smoke: [20, 40] })) {
    let isSustained = false;
    for (let chance = 0; chance < CHANCES && !isSustained; chance++) {
      const step = await take(load, rate, options);
      const { all, reason } = step;
      say(`${String(rate)} operations/s: p99 ${all.p99.toFixed(0)} ms, ${reason ?? 'sustained'}`);
      steps.push(step);
      isSustained = reason === null;
    }
    if (!isSustained) break;
  }
  return steps;
}

async function take(load: LoadWorld, rate: number, options: Options): Promise<Step> {
  const seconds = sized(options, { full: 10, short: 5, smoke: 1 });
  // The smallest size is run anywhere, and its times mean nothing.
  const bounds = sized(options, { full: BOUNDS, short: BOUNDS, smoke: { p99: 60_000, behind: 60_000 } });
  const { all, throughput, isOverrun, firstFailure } = await openLoop({
    ...{ shares: load.mix.shares, rate, seconds, random: seededRandom(rate) },
    maxOpen: Math.max(100, rate * MOST_OPEN_SECONDS),
  });
  const behind = await allDelivered(load);
  const reasons = [
    ...(isOverrun ? ['too many were waiting'] : []),
    ...(firstFailure === null ? [] : [firstFailure]),
    ...(all.p99 > bounds.p99 ? [`p99 above ${String(bounds.p99)} ms`] : []),
    ...(behind > bounds.behind ? [`fan-outs ${(behind / 1_000).toFixed(1)} s behind`] : []),
  ];
  return { rate, all, throughput, behind, reason: reasons.length === 0 ? null : reasons.join('; ') };
}

/** How long it takes until every fan-out is done, in milliseconds. */
function allDelivered({ world }: LoadWorld): Promise<number> {
  return untilDone('Fan-outs', 100, () => openFanOuts(world));
}

/** Half of what can be sustained has to go through whole, else the figures say nothing. */
function expectHealthy({ isOverrun, failed, firstFailure }: LoadOutcome): void {
  if (isOverrun) throw new Error('The load could not be served, though twice its rate had been sustained');
  if (failed > 0) throw new Error(`${String(failed)} operations failed, the first: ${firstFailure ?? ''}`);
}

/** What came to the sockets of the watchers. */
interface Push {
  readonly events: Readonly<Record<string, number>>;
  /** Milliseconds from the sending of a mutation to each receipt. */
  readonly receipts: LoadResult;
}

/** What the watchers saw of the measured run, once all of it has been delivered. */
async function pushOf(load: LoadWorld, startedAt: number): Promise<Push> {
  await allDelivered(load);
  await load.watchers.call('healthy', null);
  const { added, others } = await load.watchers.call('seen', null);
  const milliseconds = added.flatMap(({ action, at }) => {
    const sentAt = load.mix.published.get(action);
    // What was sent before is of a step of the ladder, the last of which is more than the server can take.
    return sentAt === undefined || sentAt < startedAt ? [] : at.map((time) => time - sentAt);
  });
  const count = added.reduce((sum, { at }) => sum + at.length, 0);
  return {
    events: { FeedItemAdded: count, ...others },
    receipts: percentiles('publish mutation sent → receipt at a socket', milliseconds),
  };
}

/** The p50s of publishing and of the raw insert, window by window. */
function windowed({ answered }: LoadOutcome, seconds: number, most: number): readonly Series[] {
  const of = (operation: string) => answered.filter((one) => one.operation.name === operation);
  const [publishes, inserts] = [of(PUBLISHING), of(RAW_INSERT)];
  const windows = Math.min(most, Math.max(1, Math.floor(inserts.length / FEWEST_IN_WINDOW)));
  const length = (seconds * 1_000) / windows;
  const p50 = (name: string, list: typeof answered): Series => ({
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
