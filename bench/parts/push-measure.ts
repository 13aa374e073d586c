import type { Child } from '../harness/child.ts';
import { formatNumber } from '../harness/format.ts';
import { judge, type Figure, type PartReport, type Table, type Verdict } from '../harness/report.ts';
import {
  alternate,
  fastest,
  ratioOf,
  seriesNamed,
  summaryOf,
  type Contender,
  type Series,
} from '../harness/rounds.ts';
import { now, quantile } from '../harness/statistics.ts';
import type { PushClientApi } from '../programs/push-client.ts';

/** One at a time goes on for so many milliseconds, but so often at least. */
const LONGEST_MS = 10_000;
const FEWEST = 2;

/** Something that pushes what is published to all its subscribers. */
export interface Pushing {
  readonly name: string;
  readonly client: Child<PushClientApi>;
  /** Publishes so many events at once; when it began to. */
  readonly publish: (count: number) => Promise<number>;
  /** Seconds of CPU so far by kind of process, where that is to be known. */
  readonly cpu?: () => ReadonlyMap<string, number>;
}

export interface PushFigures {
  readonly subscribers: number;
  readonly burst: number;
  /** Milliseconds from publish to receipt, one action at a time, events/s of bursts, and items/s of the raw insert. */
  readonly series: readonly Series[];
  /** Microseconds of CPU for each event of the bursts, by who pushed and kind of process. */
  readonly cpu: readonly (Series & { readonly pushing: string })[];
}

export const FANFARE = 'Fanfare';
export const BARE = 'bare ws + Redis';
/** A server that stores what it pushes to each reader can do no less. */
export const LEAST = 'raw insert + one message + a string for each socket';
/** As live events are usually pushed: neither stores nor decides. */
export const USUAL = {
  graphql: 'graphql-redis-subscriptions, a channel for each reader',
  rooms: 'socket.io with its Redis adapter, a room for each reader',
} as const;
/** What pushes, where it is not Fanfare. */
export const SERVER = 'server';

/** What is measured of one action: how long until the last socket has it. */
const LAST = 'last receipt';

/** Name of the contender that only stores the items of a burst. */
const RAW = 'raw insertMany of the items, items/s';

/**
 * One at a time: latency at every socket. In bursts: events/s from the first publish to the last receipt. Beside them
 * what only stores as many items as a burst has events, in items/s.
 */
export async function measurePush(options: {
  readonly subscribers: number;
  readonly contenders: readonly Pushing[];
  readonly storeItems: (actions: number) => Promise<number>;
  readonly rounds: number;
  readonly single: number;
  readonly burst: number;
}): Promise<PushFigures> {
  const { subscribers, contenders, storeItems, rounds, single, burst } = options;
  const cpu = new Map<string, Map<string, number[]>>();
  const p99s = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  const lasts = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  const pushed = contenders.flatMap((pushing): Contender[] => [
    {
      name: latencyName(pushing.name, 'p50'),
      measure: async (round) => {
        const actions = await latenciesOf(pushing, subscribers, single);
        const latencies = actions.flat();
        if (round >= 0) {
          p99s.get(pushing.name)?.push(quantile(latencies, 0.99));
          lasts.get(pushing.name)?.push(
            quantile(
              actions.map((times) => Math.max(...times)),
              0.5,
            ),
          );
        }
        return quantile(latencies, 0.5);
      },
    },
    {
      name: rateName(pushing.name),
      measure: async (round) => {
        const before = pushing.cpu?.();
        const rate = await rateOf(pushing, subscribers, burst);
        if (round >= 0 && before !== undefined)
          for (const [kind, seconds] of pushing.cpu?.() ?? []) {
            const micros = ((seconds - (before.get(kind) ?? 0)) * 1e6) / (burst * subscribers);
            const own = cpu.get(pushing.name) ?? new Map<string, number[]>();
            cpu.set(pushing.name, own.set(kind, [...(own.get(kind) ?? []), micros]));
          }
        return rate;
      },
    },
  ]);
  const series = await alternate([...pushed, { name: RAW, measure: () => storeItems(burst) }], {
    rounds,
    warmUp: 1,
  });
  const named = (what: string, found: ReadonlyMap<string, readonly number[]>): Series[] =>
    [...found].map(([name, values]) => ({ name: latencyName(name, what), values }));
  const slowest = [...named('p99', p99s), ...named(LAST, lasts)];
  return {
    subscribers,
    burst,
    series: [...series, ...slowest],
    cpu: [...cpu].flatMap(([pushing, kinds]) =>
      [...kinds].map(([name, values]) => ({ pushing, name, values })),
    ),
  };
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
    for (const { at } of await client.call('receipts', null)) latencies.push(at.map((time) => time - from));
  }
  return latencies;
}

async function rateOf({ client, publish }: Pushing, subscribers: number, burst: number): Promise<number> {
  await client.call('forget', null);
  const from = await publish(burst);
  await client.call('received', burst * subscribers);
  const receipts = await client.call('receipts', null);
  const last = Math.max(...receipts.map(({ at }) => Math.max(...at)));
  return (burst * subscribers) / ((last - from) / 1_000);
}

function unitOf(name: string): string {
  return /(?:events|items)\/s$/.exec(name)?.[0] ?? 'ms';
}

function cpuTable({ subscribers, cpu }: PushFigures): Table {
  const rows = cpu.map(({ pushing, name, values }) => ({ pushing, name, micros: quantile(values, 0.5) }));
  return {
    columns: [`CPU for each event, ${String(subscribers)} sockets`, 'process', 'µs'],
    rows: rows
      .filter(({ micros }) => micros >= 0.5)
      .toSorted((a, b) => b.micros - a.micros)
      .map(({ pushing, name, micros }) => [pushing, name, formatNumber(micros)]),
  };
}

function latencyName(who: string, what: string): string {
  return `${who}, publish → receipt, ${what}`;
}

function rateName(who: string): string {
  return `${who}, events/s`;
}

function lastVerdicts({ series }: PushFigures): Verdict[] {
  const { values } = seriesNamed(series, latencyName(FANFARE, LAST));
  const seconds = { name: 'last receipt', values: values.map((ms) => ms / 1_000) };
  return [
    judge('lastReceipt', {
      ...{ name: 'one action to 1,000 sockets, last receipt', unit: 's' },
      summary: summaryOf(seconds),
    }),
  ];
}

/** CPU of what pushes, for an event: the API's, and that of the better of the usual ways. */
function eventVerdicts({ cpu }: PushFigures): Verdict[] {
  const of = (pushing: string, kind: string): Series | undefined =>
    cpu.find((entry) => entry.pushing === pushing && entry.name === kind);
  const api = of(FANFARE, 'api');
  if (api === undefined) return [];
  const micros = { name: 'CPU of the API for an event', unit: 'µs', summary: summaryOf(api) };
  const usual = Object.values(USUAL).flatMap((name) => {
    const found = of(name, SERVER);
    return found === undefined ? [] : [{ ...found, name }];
  });
  return [
    judge('eventCpu', micros),
    ...(usual.length === 0
      ? []
      : [
          judge('eventCpuUsual', {
            ...{ name: `CPU of the API for an event / ${fastest(usual).name}`, unit: '×' },
            summary: ratioOf(api, fastest(usual)),
            note: 'neither of the usual ways stores or decides',
          }),
        ]),
  ];
}

export function pushReport(all: readonly PushFigures[]): PartReport {
  const figures = all.flatMap(({ subscribers, series }): Figure[] =>
    series.map((entry) => ({
      name: `${String(subscribers)} sockets: ${entry.name}`,
      unit: unitOf(entry.name),
      summary: summaryOf(entry),
    })),
  );
  const stored = all.map(({ subscribers, series }) => ({
    name: `${String(subscribers)} sockets: items the raw driver stores / events of the bare broadcast`,
    unit: '×',
    summary: ratioOf(seriesNamed(series, RAW), seriesNamed(series, rateName(BARE))),
    note: 'more than this no server reaches that stores every delivery with this driver and database',
  }));
  const ratios = all.map(({ subscribers, series }) => ({
    subscribers,
    figure: {
      name: `events/s to ${String(subscribers)} sockets / bare broadcast`,
      unit: '×',
      summary: ratioOf(seriesNamed(series, rateName(FANFARE)), seriesNamed(series, rateName(BARE))),
      note: 'Fanfare stores every delivery and decides every event for its reader; the broadcast does neither',
    },
  }));
  const limits = all.map(({ subscribers, series }) => ({
    subscribers,
    figure: {
      name: `events/s to ${String(subscribers)} sockets / the least that stores and pushes`,
      unit: '×',
      summary: ratioOf(seriesNamed(series, rateName(FANFARE)), seriesNamed(series, rateName(LEAST))),
      note: 'the limit decides nothing, renders nothing and keeps no log',
    },
  }));
  const cpuVerdicts = all
    .filter(({ subscribers }) => subscribers === 1_000)
    .flatMap((figures) => [...lastVerdicts(figures), ...eventVerdicts(figures)]);
  const curve = (what: string): { label: string; points: { x: number; y: number }[] } => ({
    label: what,
    points: all.map(({ subscribers, series }) => ({
      x: subscribers,
      y: summaryOf(seriesNamed(series, what)).median,
    })),
  });
  return {
    title: 'Push',
    about: [
      'Every connected subscriber gets every action. One at a time: milliseconds from the call that publishes to the receipt, over all sockets. In bursts: events/s from the call that publishes them all to the last receipt.',
      `Bursts: ${all.map(({ subscribers, burst }) => `${String(burst)} actions to ${String(subscribers)} sockets`).join(', ')}.`,
      'Fanfare: a mutation over HTTP, one worker, one API process. Bare: a publish to one Redis channel, and a server that sends the message to all its sockets as it is; the same bytes. The sockets are in processes of their own.',
      'Raw insert + one message: for each action the plain driver stores the items, one message goes to a server, and that sends each socket a string of the same length with a part of its own.',
      'The usual ways, up to 1,000 sockets: graphql-redis-subscriptions with a channel for each reader, and socket.io with its Redis adapter and a room for each reader. A publisher sends each reader the same action; neither stores nor decides.',
      'Raw insertMany: the plain driver storing as many items as a burst has events. A broadcast stores nothing; Fanfare stores every delivery before it is pushed, in the same database on the same cores.',
    ],
    figures: [
      ...figures,
      ...stored,
      ...[...ratios, ...limits].filter((ratio) => ratio.subscribers !== 1_000).map(({ figure }) => figure),
    ],
    verdicts: [
      ...ratios.map((ratio) => ({ ...ratio, row: 'push' as const })),
      ...limits.map((limit) => ({ ...limit, row: 'pushLimit' as const })),
    ]
      .flatMap(({ subscribers, row, figure }): Verdict[] =>
        subscribers === 1_000 ? [judge(row, figure)] : [],
      )
      .concat(cpuVerdicts),
    tables: all.map(cpuTable),
    charts: [
      {
        kind: 'curves',
        name: 'push-latency',
        title: 'Publish → receipt by connected subscribers',
        xLabel: 'connected subscribers',
        unit: 'ms',
        curves: [FANFARE, BARE, LEAST].flatMap((who) =>
          ['p50', 'p99'].map((what) => curve(latencyName(who, what))),
        ),
      },
    ],
    raw: { all },
  };
}
