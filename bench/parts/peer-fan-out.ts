import { startApi, startWorker } from '../harness/fanfare.ts';
import { openFanOutClient } from '../harness/fan-out-client.ts';
import { missedBy, startPeer } from '../harness/peer.ts';
import { judge, type Figure, type PartReport, type Verdict } from '../harness/report.ts';
import {
  alternate,
  fastest,
  ratioOf,
  seriesNamed,
  summaryOf,
  type Contender,
  type Series,
} from '../harness/rounds.ts';
import { timed } from '../harness/statistics.ts';
import { insertItems, itemsCollection, newItems } from '../world/items.ts';
import { loadFollowers, readerId } from '../world/people.ts';
import { openRawWorld } from '../world/raw.ts';
import { waitUntilStored } from '../world/stored.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_peer_fanout';
const REF = 'site-followed';
const ACTIVITIES = [1, 3, 10];
const STORED = 'Fanfare, until stored for all';

/** 20,000 followers, from publish until the last follower's socket has it, for several activities at once. */
export const peerFanOutPart: Part = { name: 'peer-fan-out', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say, profileDir } = context;
  const followers = sized(options, { full: 20_000, short: 5_000, smoke: 600 });
  const rounds = roundsOf(options, { full: 3, short: 2, smoke: 1 });
  const warmUp = sized(options, { full: 1, short: 1, smoke: 0 });
  const activities = sized(options, { full: ACTIVITIES, short: [1, 3], smoke: [1] });
  await using world = await openRawWorld(environment, DATABASE);
  await loadFollowers(world.follows, REF, followers);
  const rawDb = environment.driver.db(`${DATABASE}_raw`);
  const rawItems = await itemsCollection(rawDb, 'items');
  await using api = await startApi({ environment, database: DATABASE, profileDir });
  await using _worker = await startWorker({ environment, database: DATABASE, profileDir });
  await using client = await openFanOutClient({
    ...api,
    sources: [{ refId: REF, lastReader: readerId(followers - 1) }],
  });
  await using peer = await startPeer(environment, `${DATABASE}_peer`, say);
  say(`the peer makes ${String(followers)} followers`);
  await peer.publisher.call('prepareSources', { followers: [followers] });
  let ours = 0;
  const stored = new Map<number, number[]>(activities.map((count) => [count, []]));
  const contenders = activities.flatMap((count): Contender[] => {
    const byPeer = (bull: boolean): Contender => ({
      name: nameOf(bull ? 'peer, with its queue and workers' : 'peer, without its queue', count),
      // One entry more than there are followers: the source keeps its own.
      measure: () => peer.fanOut({ activities: count, bull, entries: followers + 1 }),
    });
    return [
      {
        name: nameOf('Fanfare', count),
        measure: async (round) => {
          ours += count * followers;
          let milliseconds = 0;
          const untilStored = await timed(async () => {
            milliseconds = await client.fanOut(count);
            await waitUntilStored(world, ours);
          });
          if (round >= 0) stored.get(count)?.push(untilStored);
          return milliseconds;
        },
      },
      {
        name: nameOf('raw insertMany of the items', count),
        measure: async () => {
          const documents = Array.from({ length: count }, () => newItems(followers)).flat();
          return timed(() => insertItems(rawItems, documents));
        },
      },
      byPeer(true),
      byPeer(false),
    ];
  });
  // What is warm with one at once is warm with ten.
  await alternate(contenders.slice(0, contenders.length / activities.length), { rounds: 0, warmUp });
  const series = await alternate(contenders, { rounds, warmUp: 0 });
  const storedForAll = [...stored].map(([count, values]): Series => ({
    name: nameOf(STORED, count),
    values,
  }));
  await rawDb.dropDatabase();
  await environment.driver.db(`${DATABASE}_peer`).dropDatabase();
  return report({ followers, activities, missed: peer.missed, series, storedForAll });
}

function nameOf(who: string, count: number): string {
  return `${who}, ${String(count)} at once`;
}

interface Measured {
  readonly followers: number;
  readonly activities: readonly number[];
  /** How often the peer had to do it over. */
  readonly missed: number;
  readonly series: readonly Series[];
  /** Until all items of all followers are stored, of the same fan-outs. */
  readonly storedForAll: readonly Series[];
}

function report({ followers, activities, missed, series, storedForAll }: Measured): PartReport {
  const figures: Figure[] = [...series, ...storedForAll].map((entry) => ({
    name: entry.name,
    unit: 'ms',
    summary: summaryOf(entry),
  }));
  const verdicts = activities.flatMap((count): Verdict[] => {
    const ours = seriesNamed(series, nameOf('Fanfare', count));
    const raw = seriesNamed(series, nameOf('raw insertMany of the items', count));
    const peer = fastest(
      series.filter(({ name }) => name.startsWith('peer') && name.endsWith(`, ${String(count)} at once`)),
    );
    const against = (other: Series, a: Series, b: Series): Figure => ({
      name: `${String(count)} at once: ${ours.name.split(',')[0] ?? ''} and ${other.name}`,
      unit: '×',
      summary: ratioOf(a, b),
      note: `${String(followers)} followers`,
    });
    return [judge('reachPeer', against(peer, peer, ours)), judge('reachRaw', against(raw, ours, raw))];
  });
  return {
    title: 'Fan-out until the last follower’s socket, beside the peer',
    about: [
      `${String(followers)} followers follow one source. From the call that publishes – a mutation over HTTP for Fanfare, addActivity for the peer – until the socket of the last follower has got all the activities.`,
      'Fanfare: one API process, one worker. It brings an action to the watchers of a large audience before it goes through all of it; how long it is until all followers have it stored is shown beside. The raw insert stores all items. The peer: publisher, two workers and socket server, as in its own benchmark; also without its queue, which is often faster. The faster of the two is what Fanfare is compared with.',
      `Between two measurements everybody waits until all entries are stored. ${missedBy(missed)}`,
    ],
    figures,
    verdicts,
    charts: [
      {
        kind: 'bars',
        name: 'peer-fan-out',
        title: `Publish → socket of the last of ${String(followers)} followers`,
        unit: 'ms',
        bars: figures.map(({ name, summary: { median, min, max } }) => ({
          label: name,
          value: median,
          min,
          max,
        })),
      },
    ],
    raw: { followers, missed, series, storedForAll },
  };
}
