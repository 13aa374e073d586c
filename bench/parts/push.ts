import { Closer } from '../../src/lib/closer.ts';
import { atLeast, atMost, type Figure, type PartReport, type Table } from '../harness/report.ts';
import {
  alternate,
  fastest,
  figureOf,
  ratioFigure,
  seriesNamed,
  type Measure,
  type Series,
} from '../harness/rounds.ts';
import { openLoop } from '../harness/open-loop.ts';
import { formatNumber, now, quantile } from '../harness/statistics.ts';
import {
  FANFARE,
  LEAST,
  ONE_PROCESS,
  openFanfare,
  openGraphql,
  openLeast,
  openRooms,
  SERVER,
  USUAL,
  type Pushing,
  type PushingFanfare,
} from '../world/pushing.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { importInto } from './small-actions.ts';

/** Of more, each event would be a message of its own to a publisher that has nothing else to do for minutes. */
const MOST_USUAL = 1_000;
/** The number of sockets that the targets speak of. */
const TARGET_SOCKETS = 1_000;
/** As many as watch a page at once; reads and publications a second meanwhile. */
const FEW = 50;
const READS = 80;
const PUBLICATIONS = 10;
const loaded = (who: string): string =>
  `${who}, under ${String(READS)} reads and ${String(PUBLICATIONS)} publications a second`;
/** Actions of an import that waits meanwhile. */
const IMPORTED = 10_000;
const BESIDE_IMPORT = `${ONE_PROCESS}, while an import waits`;
/** One at a time goes on for so many milliseconds, but so often at least. */
const LONGEST_MS = 10_000;
const FEWEST = 2;
const MEASURES = ['p50, ms', 'p99, ms', 'last receipt, ms', 'events/s'] as const;

/** An action that everybody connected watches for, beside the least that stores and pushes. */
export const pushPart: Part = { name: 'push', run };

interface PushFigures {
  readonly subscribers: number;
  readonly burst: number;
  /** By `nameOf` and `cpuName`. */
  readonly series: readonly Series[];
}

async function run(context: PartContext): Promise<PartReport> {
  const { options, say } = context;
  const sizes = sized(options, { full: [FEW, 1_000, 5_000], short: [FEW, 1_000], smoke: [FEW] });
  const all: PushFigures[] = [];
  for (const subscribers of sizes) {
    say(`${String(subscribers)} subscribers`);
    all.push(await withSubscribers(context, subscribers));
  }
  return {
    title: 'Push',
    about: [
      'Every connected subscriber gets every action, from sockets in a process of their own. One at a time: milliseconds from the call that publishes to the receipt, over all sockets.',
      `In bursts: events/s from the call that publishes them all to the last receipt (${all.map(({ subscribers, burst }) => `${String(burst)} actions to ${String(subscribers)} sockets`).join(', ')}).`,
      'Fanfare: a mutation over HTTP, one worker process, one API process, or both in one; it stores every delivery and decides every event for its reader. Raw insert + one message: for each action the plain driver stores the items, and each socket is sent a string of the same length with a part of its own.',
      `While an import waits: ${IMPORTED.toLocaleString('en')} actions with one reader each, which the same process delivers.`,
      'The usual ways, up to 1,000 sockets: a publisher sends each reader the same action; neither stores nor decides.',
    ],
    figures: all.flatMap(ratiosOf),
    tables: all.map(tableOf),
    raw: { all },
  };
}

async function withSubscribers(context: PartContext, subscribers: number): Promise<PushFigures> {
  const { options } = context;
  await using closer = new Closer();
  const of = { followers: subscribers, watching: subscribers };
  const database = `bench_push_${String(subscribers)}`;
  const fanfare = await openFanfare(context, closer, { ...of, database });
  const both =
    subscribers === FEW
      ? [
          await openFanfare(context, closer, { ...of, database: `${database}_one`, isOneProcess: true }),
          fanfare,
        ]
      : [fanfare];
  const like = { subscribers, sample: await fanfare.sample() };
  const least = await openLeast(context, closer, like);
  const usual =
    subscribers <= MOST_USUAL
      ? [await openGraphql(context, closer, like), await openRooms(context, closer, like)]
      : [];
  const events = sized(options, { full: 20_000, short: 4_000, smoke: 100 });
  // So many actions that it takes seconds, and no more than a watcher may be behind.
  const burst = Math.min(200, Math.max(2, Math.round(events / subscribers)));
  const single = sized(options, { full: 20, short: 10, smoke: 2 });
  const measures = [...both, least, ...usual].flatMap((pushing): Measure[] => [
    async () => {
      const actions = await latenciesOf(pushing, subscribers, single);
      const latencies = actions.flat();
      const last = actions.map((times) => Math.max(...times));
      return {
        [nameOf(pushing.name, 'p50, ms')]: quantile(latencies, 0.5),
        [nameOf(pushing.name, 'p99, ms')]: quantile(latencies, 0.99),
        [nameOf(pushing.name, 'last receipt, ms')]: quantile(last, 0.5),
      };
    },
    async () => {
      const before = pushing.cpu?.();
      const rate = await rateOf(pushing, burst, subscribers);
      const micros = Array.from(pushing.cpu?.() ?? [], ([kind, seconds]): [string, number] => [
        cpuName(pushing.name, kind),
        ((seconds - (before?.get(kind) ?? 0)) * 1e6) / (burst * subscribers),
      ]);
      return { [nameOf(pushing.name, 'events/s')]: rate, ...Object.fromEntries(micros) };
    },
  ]);
  if (subscribers === FEW) {
    measures.push(...both.map((one) => () => underLoad(context, one)));
    measures.push(await besideImport(context, closer));
  }
  const rounds = roundsOf(options, { full: [5, 1], short: [2, 1], smoke: [1, 1] });
  return { subscribers, burst, series: await alternate(measures, rounds) };
}

/** At every socket, action by action. */
async function latenciesOf(
  { client, publish }: Pushing,
  subscribers: number,
  count: number,
): Promise<number[][]> {
  const latencies: number[][] = [];
  const until = now() + LONGEST_MS;
  for (let index = 0; index < count && (index < FEWEST || now() < until); index++) {
    await client.call('forget', null);
    const from = await publish(1);
    await client.call('received', subscribers);
    const { added } = await client.call('seen', null);
    for (const { at } of added) latencies.push(at.map((time) => time - from));
  }
  return latencies;
}

/** From the sending of a mutation to each receipt, while pages are read. */
async function underLoad({ options }: PartContext, fanfare: PushingFanfare) {
  const { name, client, publishOne, readPage } = fanfare;
  const sent = new Map<string, number>();
  const publish = async (): Promise<void> => {
    const at = now();
    sent.set(await publishOne(), at);
  };
  await client.call('forget', null);
  const { isOverrun, firstFailure } = await openLoop({
    shares: [
      { share: READS, turns: [{ name: 'page', run: readPage }] },
      { share: PUBLICATIONS, turns: [{ name: 'publish', run: publish }] },
    ],
    ...{ rate: READS + PUBLICATIONS, maxOpen: 1_000, random: Math.random },
    seconds: sized(options, { full: 20, short: 10, smoke: 1 }),
  });
  if (isOverrun || firstFailure !== null) throw new Error(firstFailure ?? 'Too many were waiting');
  await client.call('received', sent.size * FEW);
  const { added } = await client.call('seen', null);
  const latencies = added.flatMap(({ action, at }) => at.map((time) => time - (sent.get(action) ?? NaN)));
  return {
    [nameOf(loaded(name), 'p50, ms')]: quantile(latencies, 0.5),
    [nameOf(loaded(name), 'p99, ms')]: quantile(latencies, 0.99),
  };
}

/** One at a time, while an import waits and is delivered. */
async function besideImport(context: PartContext, closer: Closer): Promise<Measure> {
  const database = 'bench_push_import';
  const count = sized(context.options, { full: IMPORTED, short: IMPORTED, smoke: 200 });
  // It empties the database.
  const begin = await importInto(context, closer, database, count);
  const of = { followers: FEW, watching: FEW, database, isOneProcess: true };
  const fanfare = await openFanfare(context, closer, of);
  const single = sized(context.options, { full: 60, short: 60, smoke: 2 });
  return async () => {
    await begin();
    const latencies = (await latenciesOf(fanfare, FEW, single)).flat();
    return {
      [nameOf(BESIDE_IMPORT, 'p50, ms')]: quantile(latencies, 0.5),
      [nameOf(BESIDE_IMPORT, 'p99, ms')]: quantile(latencies, 0.99),
    };
  };
}

/** Events/s of a burst, from the call that publishes to the last receipt. */
export async function rateOf(
  { client, publish }: Pushing,
  burst: number,
  subscribers: number,
): Promise<number> {
  await client.call('forget', null);
  const from = await publish(burst);
  await client.call('received', burst * subscribers);
  const { added } = await client.call('seen', null);
  const last = Math.max(...added.map(({ at }) => Math.max(...at)));
  return (burst * subscribers) / ((last - from) / 1_000);
}

function nameOf(who: string, measure: (typeof MEASURES)[number]): string {
  return `${who}, ${measure}`;
}

/** Microseconds of CPU for each event of the bursts. */
function cpuName(who: string, kind: string): string {
  return `${who}, CPU, ${kind}`;
}

function tableOf({ subscribers, series }: PushFigures): Table {
  const who = [ONE_PROCESS, FANFARE, LEAST, ...Object.values(USUAL)].filter((name) =>
    series.some((entry) => entry.name === nameOf(name, 'p50, ms')),
  );
  return {
    columns: [`${String(subscribers)} sockets`, ...MEASURES, 'CPU of an event by process, µs'],
    rows: who.map((name) => [
      name,
      ...MEASURES.map((measure) =>
        formatNumber(quantile(seriesNamed(series, nameOf(name, measure)).values, 0.5)),
      ),
      series
        .filter((entry) => entry.name.startsWith(cpuName(name, '')))
        .map((entry) => ({
          kind: entry.name.slice(cpuName(name, '').length),
          micros: quantile(entry.values, 0.5),
        }))
        .filter(({ micros }) => micros >= 0.5)
        .toSorted((a, b) => b.micros - a.micros)
        .map(({ kind, micros }) => `${kind} ${formatNumber(micros)}`)
        .join(', '),
    ]),
  };
}

function ratiosOf({ subscribers, series }: PushFigures): Figure[] {
  const rate = (who: string): Series => seriesNamed(series, nameOf(who, 'events/s'));
  if (subscribers === FEW) {
    // The targets are of one process; two are shown beside it.
    const of = (who: string, measure: 'p50, ms' | 'p99, ms', most: number): Figure => {
      const figure = figureOf(seriesNamed(series, nameOf(who, measure)), 'ms');
      const named = { ...figure, name: `${figure.name}, to ${String(FEW)} sockets` };
      return who.startsWith(ONE_PROCESS) ? atMost(most, 'ms', named) : named;
    };
    const [idle, beside] = [ONE_PROCESS, BESIDE_IMPORT].map((who) =>
      seriesNamed(series, nameOf(who, 'p50, ms')),
    ) as [Series, Series];
    return [
      ...[ONE_PROCESS, FANFARE].flatMap((who) => [
        ...[of(who, 'p50, ms', 12), of(who, 'p99, ms', 40)],
        ...[of(loaded(who), 'p50, ms', 18), of(loaded(who), 'p99, ms', 80)],
      ]),
      atMost(2, '× without', ratioFigure(`${beside.name} / without`, beside, idle)),
      of(BESIDE_IMPORT, 'p99, ms', 150),
    ];
  }
  const to = `events/s to ${String(subscribers)} sockets`;
  const limit = ratioFigure(`${to} / the least that stores and pushes`, rate(FANFARE), rate(LEAST));
  if (subscribers !== TARGET_SOCKETS) return [limit];
  const api = seriesNamed(series, cpuName(FANFARE, 'api'));
  const usual = fastest(
    Object.values(USUAL).map((name) => ({ ...seriesNamed(series, cpuName(name, SERVER)), name })),
  );
  const last = seriesNamed(series, nameOf(FANFARE, 'last receipt, ms'));
  return [
    atLeast(0.6, '× raw insert + one message + a string for each socket', limit),
    atMost(100, 'ms', figureOf({ ...last, name: 'one action to 1,000 sockets, last receipt' }, 'ms')),
    atMost(35, 'µs', figureOf({ ...api, name: 'CPU of the API for an event' }, 'µs')),
    atMost(
      0.7,
      '× the better of the usual ways',
      ratioFigure(`CPU of the API for an event / ${usual.name}`, api, usual),
    ),
  ];
}
