import type { Child } from '../harness/child.ts';
import { judge, type Figure, type PartReport, type Verdict } from '../harness/report.ts';
import {
  alternate,
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
}

export interface PushFigures {
  readonly subscribers: number;
  readonly burst: number;
  /** Milliseconds from publish to receipt, one action at a time, and events/s of bursts. */
  readonly series: readonly Series[];
}

/** One at a time: latency at every socket. In bursts: events/s from the first publish to the last receipt. */
export async function measurePush(options: {
  readonly subscribers: number;
  readonly contenders: readonly Pushing[];
  readonly rounds: number;
  readonly single: number;
  readonly burst: number;
}): Promise<PushFigures> {
  const { subscribers, contenders, rounds, single, burst } = options;
  const p99s = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  const series = await alternate(
    contenders.flatMap((pushing): Contender[] => [
      {
        name: latencyName(pushing.name, 'p50'),
        measure: async (round) => {
          const latencies = await latenciesOf(pushing, subscribers, single);
          if (round >= 0) p99s.get(pushing.name)?.push(quantile(latencies, 0.99));
          return quantile(latencies, 0.5);
        },
      },
      { name: rateName(pushing.name), measure: () => rateOf(pushing, subscribers, burst) },
    ]),
    { rounds, warmUp: 1 },
  );
  return {
    subscribers,
    burst,
    series: [...series, ...[...p99s].map(([name, values]) => ({ name: latencyName(name, 'p99'), values }))],
  };
}

async function latenciesOf(
  { client, publish }: Pushing,
  subscribers: number,
  count: number,
): Promise<number[]> {
  const latencies: number[] = [];
  const until = now() + LONGEST_MS;
  for (let index = 0; index < count && (index < FEWEST || now() < until); index++) {
    await client.call('forget', null);
    const from = await publish(1);
    await client.call('received', subscribers);
    for (const { at } of await client.call('receipts', null))
      latencies.push(...at.map((time) => time - from));
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

function latencyName(who: string, what: string): string {
  return `${who}, publish → receipt, ${what}`;
}

function rateName(who: string): string {
  return `${who}, events/s`;
}

export function pushReport(all: readonly PushFigures[]): PartReport {
  const figures = all.flatMap(({ subscribers, series }): Figure[] =>
    series.map((entry) => ({
      name: `${String(subscribers)} sockets: ${entry.name}`,
      unit: entry.name.endsWith('events/s') ? 'events/s' : 'ms',
      summary: summaryOf(entry),
    })),
  );
  const ratios = all.map(({ subscribers, series }) => ({
    subscribers,
    figure: {
      name: `events/s to ${String(subscribers)} sockets / bare broadcast`,
      unit: '×',
      summary: ratioOf(
        seriesNamed(series, rateName('Fanfare')),
        seriesNamed(series, rateName('bare ws + Redis')),
      ),
      note: 'Fanfare stores every delivery and decides every event for its reader; the broadcast does neither',
    },
  }));
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
    ],
    figures: [
      ...figures,
      ...ratios.filter((ratio) => ratio.subscribers !== 1_000).map(({ figure }) => figure),
    ],
    verdicts: ratios.flatMap((ratio): Verdict[] =>
      ratio.subscribers === 1_000 ? [judge('push', ratio.figure)] : [],
    ),
    charts: [
      {
        kind: 'curves',
        name: 'push-latency',
        title: 'Publish → receipt by connected subscribers',
        xLabel: 'connected subscribers',
        unit: 'ms',
        curves: ['Fanfare', 'bare ws + Redis'].flatMap((who) =>
          ['p50', 'p99'].map((what) => curve(latencyName(who, what))),
        ),
      },
    ],
    raw: { all },
  };
}
