import { startApi, startWorker } from '../harness/fanfare.ts';
import { openFanOutClient } from '../harness/fan-out-client.ts';
import { missedBy, startPeer } from '../harness/peer.ts';
import { judge, type Figure, type PartReport } from '../harness/report.ts';
import { alternate, ratioOf, seriesNamed, summaryOf } from '../harness/rounds.ts';
import { loadFollowers, readerId } from '../world/people.ts';
import { openRawWorld } from '../world/raw.ts';
import { waitUntilStored } from '../world/stored.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_capacity';
const OURS = 'Fanfare';
const PEER = 'peer, with its queue and workers';
/** How many sources have how many followers: few are very popular. */
const SHAPE = [
  { sources: 50, followers: 5 },
  { sources: 10, followers: 100 },
  { sources: 10, followers: 1_000 },
  { sources: 10, followers: 2_000 },
  { sources: 20, followers: 10_000 },
];

/** 100 sources with 5 to 10,000 followers: one activity of each at once, until the last followers' sockets have them. */
export const peerCapacityPart: Part = { name: 'peer-capacity', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say, profileDir } = context;
  const scale = sized(options, { full: 1, short: 0.02, smoke: 0.001 });
  const rounds = roundsOf(options, { full: 3, short: 2, smoke: 1 });
  const counts = SHAPE.flatMap(({ sources, followers }) =>
    Array.from({ length: sources }, () => Math.max(1, Math.min(followers, Math.round(followers * scale)))),
  );
  const all = counts.reduce((sum, count) => sum + count, 0);
  await using world = await openRawWorld(environment, DATABASE);
  const sources: { readonly refId: string; readonly lastReader: string }[] = [];
  let firstReader = 0;
  for (const [index, count] of counts.entries()) {
    const refId = `site-${String(index)}`;
    await loadFollowers(world.follows, refId, count, firstReader);
    firstReader += count;
    sources.push({ refId, lastReader: readerId(firstReader - 1) });
  }
  await using api = await startApi({ environment, database: DATABASE, profileDir });
  await using _worker = await startWorker({ environment, database: DATABASE, profileDir });
  await using client = await openFanOutClient({ ...api, sources });
  await using peer = await startPeer(environment, `${DATABASE}_peer`, say);
  say(`the peer makes ${String(counts.length)} sources with ${String(all)} followers`);
  await peer.publisher.call('prepareSources', { followers: counts });
  let ours = 0;
  const series = await alternate(
    [
      {
        name: OURS,
        measure: async () => {
          const milliseconds = await client.fanOut(1);
          ours += all;
          await waitUntilStored(world, ours);
          return milliseconds / 1_000;
        },
      },
      {
        name: PEER,
        measure: async () => {
          const entries = all + counts.length;
          return (await peer.fanOut({ activities: 1, bull: true, entries })) / 1_000;
        },
      },
    ],
    { rounds, warmUp: 0 },
  );
  await environment.driver.db(`${DATABASE}_peer`).dropDatabase();
  const figures: Figure[] = series.map((entry) => ({
    name: entry.name,
    unit: 's',
    summary: summaryOf(entry),
  }));
  const times = ratioOf(seriesNamed(series, PEER), seriesNamed(series, OURS));
  return {
    title: 'Capacity beside the peer',
    about: [
      `${String(counts.length)} sources with ${String(Math.min(...counts))} to ${String(Math.max(...counts))} followers, ${String(all)} in all. One activity of each source at once, until the socket of the last follower of every source has it.`,
      missedBy(peer.missed),
    ],
    figures,
    verdicts: [judge('capacity', { name: 'how many times faster Fanfare is', unit: '×', summary: times })],
    charts: [
      {
        kind: 'bars',
        name: 'peer-capacity',
        title: `One activity of each of ${String(counts.length)} sources at once, ${String(all)} deliveries`,
        unit: 's',
        bars: figures.map(({ name, summary: { median, min, max } }) => ({
          label: name,
          value: median,
          min,
          max,
        })),
      },
    ],
    raw: { all, missed: peer.missed, series },
  };
}
