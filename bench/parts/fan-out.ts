import { Closer } from '../../src/lib/closer.ts';
import { openInProcess } from '../harness/in-process.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { missedBy, startPeer } from '../harness/peer.ts';
import { atLeast, atMost, type Figure, type PartReport } from '../harness/report.ts';
import {
  alternate,
  fastest,
  figureOf,
  ratioFigure,
  seriesNamed,
  type Measure,
  type Series,
} from '../harness/rounds.ts';
import { timed } from '../harness/statistics.ts';
import { ratingInput } from '../world/actions.ts';
import { insertItems, newItems } from '../world/items.ts';
import { loadFollowers } from '../world/people.ts';
import { openFanfare } from '../world/pushing.ts';
import { openRawWorld, waitUntilStored } from '../world/raw.ts';

const REF = 'site-followed';
const WHOLE = 'fan-out, publish → DONE';
const PASS = 'fan-out, the pass alone';
const REACHED = 'Fanfare, publish → last follower’s socket';
const STORED = 'Fanfare, publish → stored for all';
const INSERT = 'raw insertMany of the items';
const PEER = 'peer, publish → last follower’s socket';

/** Fan-out of a new action: beside the plain driver, which inserts the same documents, and beside the peer. */
export const fanOutPart: Part = { name: 'fan-out', run };

interface Reach {
  /** How many actions at once. */
  readonly count: number;
  /** Milliseconds until the socket, and of what it is compared with. */
  readonly series: readonly Series[];
}

async function run(context: PartContext): Promise<PartReport> {
  const { options, say } = context;
  const followers = sized(options, { full: 20_000, short: 5_000, smoke: 300 });
  say(`${String(followers)} followers`);
  const inProcess = await measureInProcess(context, followers);
  const { reach, missed } = await measureReach(context, followers);
  const rate = ({ name, values }: Series): Series => ({
    name,
    values: values.map((milliseconds) => followers / (milliseconds / 1_000)),
  });
  return {
    title: 'Fan-out of a new action',
    about: [
      `A new action is delivered to ${String(followers)} followers by the real worker: from the call of publishAction to DONE. The plain driver inserts the same documents into a collection with the same indexes, unordered, made before the clock starts.`,
      'Until the socket: from the call that publishes – a mutation over HTTP, or addActivity of the peer – until the last follower has got all the actions. Fanfare, with one API and one worker, brings an action to the watchers of a large audience first; until all have it stored is shown beside. The peer has a publisher, two workers and a socket server, as in its own benchmark; without its queue it is often faster, and the faster of the two is what counts.',
      missedBy(missed),
    ],
    figures: [
      ...inProcess.map((entry) => figureOf(rate(entry), 'items/s')),
      atLeast(
        0.8,
        '× raw unordered insertMany of the same documents',
        ratioFigure(
          'items/s of the fan-out / items/s of the raw insert',
          rate(seriesNamed(inProcess, WHOLE)),
          rate(seriesNamed(inProcess, INSERT)),
        ),
      ),
      ...reach.flatMap(reachFigures),
    ],
    raw: { followers, inProcess, reach, missed },
  };
}

async function measureInProcess({ environment, options }: PartContext, followers: number): Promise<Series[]> {
  await using ours = await openRawWorld(environment, 'bench_fanout');
  await using raw = await openRawWorld(environment, 'bench_fanout_raw');
  await loadFollowers(ours.follows, REF, followers);
  await using fanfare = await openInProcess(environment, 'bench_fanout', { worker: true });
  let published = 0;
  const fanOut: Measure = async () => {
    let pass = 0;
    const whole = await timed(async () => {
      const id = await fanfare.publish(ratingInput(published++, [{ id: REF }]));
      const { delivered, seconds } = await fanfare.done(id);
      if (delivered !== followers)
        throw new Error(`Delivered ${String(delivered)} of ${String(followers)} items`);
      pass = seconds * 1_000;
    });
    await waitUntilStored(ours, followers * published);
    return { [WHOLE]: whole, [PASS]: pass };
  };
  const insert: Measure = async () => {
    // Made before the clock starts.
    const documents = newItems(followers);
    return { [INSERT]: await timed(() => insertItems(raw.items, documents)) };
  };
  return await alternate([fanOut, insert], roundsOf(options, { full: [9, 2], short: [3, 1], smoke: [1, 0] }));
}

/** From publishing until the last follower's socket has all actions; Fanfare and the peer by their own processes. */
async function measureReach(context: PartContext, followers: number) {
  const { environment, options, say } = context;
  const counts = sized(options, { full: [1, 10], short: [1, 3], smoke: [1] });
  const database = 'bench_reach';
  await using closer = new Closer();
  const world = closer.own(await openRawWorld(environment, database));
  const rawWorld = closer.own(await openRawWorld(environment, `${database}_raw`));
  const fanfare = await openFanfare(context, closer, { database, followers, watching: 1 });
  const peer = await startPeer(context, closer, `${database}_peer`);
  say(`the peer makes ${String(followers)} followers`);
  await peer.publisher.call('prepareSource', { followers });
  const reach: Reach[] = [];
  let ours = 0;
  for (const count of counts) {
    const byPeer =
      (bull: boolean): Measure =>
      async () => ({
        // One entry more than there are followers: the source keeps its own.
        [`${PEER}, ${bull ? 'with its queue and workers' : 'without its queue'}`]: await peer.fanOut({
          ...{ activities: count, bull, entries: followers + 1 },
        }),
      });
    const ourFanOut = async (): Promise<number> => {
      ours += count * followers;
      const { client } = fanfare;
      await client.call('forget', null);
      const from = await fanfare.publish(count);
      await client.call('received', count);
      const { added } = await client.call('seen', null);
      return Math.max(...added.flatMap(({ at }) => at)) - from;
    };
    const series = await alternate(
      [
        async () => {
          let reached = 0;
          const stored = await timed(async () => {
            reached = await ourFanOut();
            await waitUntilStored(world, ours);
          });
          return { [REACHED]: reached, [STORED]: stored };
        },
        async () => {
          const documents = Array.from({ length: count }, () => newItems(followers)).flat();
          return { [INSERT]: await timed(() => insertItems(rawWorld.items, documents)) };
        },
        byPeer(true),
        byPeer(false),
      ],
      {
        ...roundsOf(options, { full: [3, 1], short: [2, 1], smoke: [1, 0] }),
        // What is warm with one at once is warm with ten.
        ...(reach.length > 0 ? { warmUp: 0 } : {}),
      },
    );
    reach.push({ count, series });
  }
  await environment.driver.db(`${database}_peer`).dropDatabase();
  return { reach, missed: peer.missed };
}

function reachFigures({ count, series }: Reach): Figure[] {
  const ours = seriesNamed(series, REACHED);
  const peer = fastest(series.filter(({ name }) => name.startsWith(PEER)));
  const at = `${String(count)} at once`;
  return [
    ...series.map((entry) => figureOf({ ...entry, name: `${entry.name}, ${at}` }, 'ms')),
    atLeast(10, '× faster than the peer', ratioFigure(`the faster peer / Fanfare, ${at}`, peer, ours)),
    atMost(
      1.3,
      '× raw insert of the items',
      ratioFigure(`Fanfare / raw insert of the items, ${at}`, ours, seriesNamed(series, INSERT)),
    ),
  ];
}
