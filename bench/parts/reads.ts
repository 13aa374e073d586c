import { Closer } from '../../src/lib/closer.ts';
import { startApi, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, hammer, type WireRequest, LanePool } from '../harness/http-lanes.ts';
import { openInProcess } from '../harness/in-process.ts';
import { openLoop } from '../harness/open-loop.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { startPeer, untilStored } from '../harness/peer.ts';
import { seededRandom } from '../harness/random.ts';
import { atLeast, atMost, type Figure, type PartReport } from '../harness/report.ts';
import {
  alternate,
  besides,
  figureOf,
  ratioFigure,
  seriesNamed,
  type Measure,
  type Series,
} from '../harness/rounds.ts';
import { loadActions, loadFeed, loadNames } from '../world/feed.ts';
import { expectPage, startBareYoga } from '../world/pages.ts';
import { SHOWN_PAGE } from '../world/queries.ts';
import { openRawWorld } from '../world/raw.ts';

const DATABASE = 'bench_reads';
const CONCURRENCY = [5, 10, 20];
const FIRST = 20;
const SEED = 5;
const MOST_OPEN = 2_000;
const PAGE = 'shown page';
const YOGA = 'bare Yoga';
const ROUNDS = { full: [5, 1], short: [3, 1], smoke: [1, 0] } as const;

/** Pages of many readers: at several concurrencies beside the peer, and at fixed rates beside bare Yoga. */
export const readsPart: Part = { name: 'reads', run };

interface AtRate {
  /** Arrivals a second. */
  readonly rate: number;
  /** Milliseconds: p50 and p99 of Fanfare and of bare Yoga. */
  readonly series: readonly Series[];
}

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options } = context;
  const length = sized(options, { full: 3_000, short: 3_000, smoke: 60 });
  const readers = sized(options, { full: 20, short: 20, smoke: 3 });
  await using closer = new Closer();
  const world = closer.own(await openRawWorld(environment, DATABASE));
  const fanfare = closer.own(await openInProcess(environment, DATABASE, { worker: false }));
  const actions = await loadActions(world, fanfare, length);
  await loadNames(fanfare);
  const { url } = closer.own(await startApi({ environment, database: DATABASE }));
  const pages: WireRequest[] = [];
  for (let reader = 0; reader < readers; reader += 1) {
    const userId = `reader-of-pages-${String(reader)}`;
    await loadFeed(world, userId, actions);
    pages.push(graphqlRequest(url, await tokenFor(userId), SHOWN_PAGE, { first: FIRST }));
  }
  for (const page of pages) await expectPage(page, FIRST);
  const rates = await besidePeer(context, length, pages);
  const latencies: AtRate[] = [];
  for (const rate of sized(options, { full: [200, 300], short: [100, 200], smoke: [20] }))
    latencies.push(await atRate(context, rate, { url, pages }));
  return {
    title: 'Reading',
    about: [
      `The first ${String(FIRST)} of ${String(length)} activities. The peer is called by its own API inside its process, and its activities carry ids without names or labels; Fanfare answers GraphQL over HTTP with authentication, names of actors and labels of refs, from a process of its own to a client in another.`,
      'At fixed rates: arrivals on schedule, whatever becomes of those before, each measured from when it should have started; bare Yoga answers with as many bytes in the same rounds.',
    ],
    figures: [
      ...rates.map((entry) => figureOf(entry, 'pages/s')),
      ...CONCURRENCY.map((concurrency) => {
        const [ours, peer] = [fanfareAt(concurrency), peerAt(concurrency)];
        const name = `pages/s / the peer’s, ${String(concurrency)} at a time`;
        const ratio = ratioFigure(name, seriesNamed(rates, ours), seriesNamed(rates, peer));
        return atLeast(50, '× the peer’s readFeed', ratio);
      }),
      ...latencies.flatMap(latencyFigures),
    ],
    raw: { length, rates, latencies },
  };
}

/** Pages a second, so many at a time: the peer in its own process by its API, Fanfare through HTTP GraphQL. */
async function besidePeer(
  context: PartContext,
  length: number,
  [page]: readonly WireRequest[],
): Promise<Series[]> {
  const { environment, options, say } = context;
  if (page === undefined) throw new Error('There are no readers');
  await using closer = new Closer();
  const peer = await startPeer(context, closer, `${DATABASE}_peer`);
  say(`the peer adds ${String(length)} activities`);
  await peer.publisher.call('prepareRead', { activities: length });
  await untilStored(peer.publisher, length);
  const measures = CONCURRENCY.flatMap((concurrency): Measure[] => [
    async () => {
      const count = sized(options, { full: 60, short: 40, smoke: 4 });
      return {
        [peerAt(concurrency)]: count / ((await peer.publisher.call('read', { count, concurrency })) / 1_000),
      };
    },
    async () => {
      const count = sized(options, { full: 800, short: 400, smoke: 20 });
      return {
        [fanfareAt(concurrency)]: count / ((await hammer(page, { count, concurrency })).total / 1_000),
      };
    },
  ]);
  const series = await alternate(measures, roundsOf(context.options, ROUNDS));
  await environment.driver.db(`${DATABASE}_peer`).dropDatabase();
  return series;
}

/** Pages that are asked for at a fixed rate, whether or not those before have been answered. */
async function atRate(
  context: PartContext,
  rate: number,
  { url, pages }: { readonly url: string; readonly pages: readonly WireRequest[] },
): Promise<AtRate> {
  const [first] = pages;
  if (first === undefined) throw new Error('There are no readers');
  await using closer = new Closer();
  const bare = closer.own(await startBareYoga(await expectPage(first, FIRST)));
  const sides = [
    { name: PAGE, pool: closer.own(new LanePool(url, MOST_OPEN)), requests: pages },
    { name: YOGA, pool: closer.own(new LanePool(bare.url, MOST_OPEN)), requests: [bare.request] },
  ];
  const series = await alternate(
    sides.map(({ name, pool, requests }): Measure => async (round) => {
      const random = seededRandom(SEED + round);
      const ask = (): Promise<string> => pool.ask(requests[Math.floor(random() * requests.length)] ?? first);
      const { all, firstFailure, isOverrun } = await openLoop({
        ...{ shares: [{ share: 1, turns: [{ name, run: ask }] }], rate, random, maxOpen: MOST_OPEN },
        seconds: sized(context.options, { full: 10, short: 5, smoke: 1 }),
      });
      if (isOverrun || firstFailure !== null)
        throw new Error(`${name}, ${String(rate)}/s: ${firstFailure ?? 'too many were waiting'}`);
      return { [`${name}, p50`]: all.p50, [`${name}, p99`]: all.p99 };
    }),
    roundsOf(context.options, ROUNDS),
  );
  return { rate, series };
}

function fanfareAt(concurrency: number): string {
  return `Fanfare, HTTP, shown page, ${String(concurrency)} at a time`;
}

function peerAt(concurrency: number): string {
  return `peer, readFeed, ${String(concurrency)} at a time`;
}

/** What the rates that have targets are to keep, in milliseconds. */
const BOUNDS: Readonly<Record<number, { readonly p50?: number; readonly p99: number }>> = {
  200: { p50: 4, p99: 15 },
  300: { p99: 60 },
};

function latencyFigures({ rate, series }: AtRate): Figure[] {
  return (['p50', 'p99'] as const).map((what) => {
    const of = (name: string): Series => seriesNamed(series, `${name}, ${what}`);
    const figure = besides(`${PAGE} at ${String(rate)} a second, ${what}`, 'ms', of(PAGE), of(YOGA));
    const bound = BOUNDS[rate]?.[what];
    return bound === undefined ? figure : atMost(bound, 'ms', figure);
  });
}
