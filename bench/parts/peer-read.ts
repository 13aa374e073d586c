import { startApi, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, hammer, Lane, readAnswer } from '../harness/http-lanes.ts';
import { openInProcess } from '../harness/in-process.ts';
import { startPeer, untilStored } from '../harness/peer.ts';
import { judge, type Figure, type PartReport, type Verdict } from '../harness/report.ts';
import { alternate, ratioOf, seriesNamed, summaryOf, type Contender } from '../harness/rounds.ts';
import { loadActions, loadFeed, loadNames } from '../world/feed.ts';
import { LEAN_PAGE, SHOWN_PAGE } from '../world/queries.ts';
import { openRawWorld } from '../world/raw.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_peer_read';
const READER = 'reader-of-the-peers-feed';
const CONCURRENCY = [5, 10, 20];
const FIRST = 20;

/** Reads 20 of 3,000 at several concurrencies: the peer in its own process by its API, Fanfare through HTTP GraphQL. */
export const peerReadPart: Part = { name: 'peer-read', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say, profileDir } = context;
  const length = sized(options, { full: 3_000, short: 3_000, smoke: 60 });
  const rounds = roundsOf(options, { full: 5, short: 3, smoke: 1 });
  const warmUp = sized(options, { full: 1, short: 1, smoke: 0 });
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  await loadFeed(world, READER, await loadActions(world, fanfare, length));
  await loadNames(fanfare);
  await using api = await startApi({ environment, database: DATABASE, profileDir });
  const token = await tokenFor(READER);
  const request = (query: string) => graphqlRequest(api.url, token, query, { first: FIRST });
  await using peer = await startPeer(environment, `${DATABASE}_peer`, say);
  say(`the peer adds ${String(length)} activities`);
  await peer.publisher.call('prepareRead', { activities: length });
  await untilStored(peer.publisher, length);
  const contenders = CONCURRENCY.flatMap((concurrency): Contender[] => {
    const at = `, ${String(concurrency)} at a time`;
    const ours = async (query: string): Promise<number> => {
      const count = sized(options, { full: 800, short: 400, smoke: 20 });
      await expectPage(request(query));
      return count / ((await hammer(request(query), { count, concurrency })).total / 1_000);
    };
    return [
      {
        name: `peer, readFeed${at}`,
        measure: async () => {
          const count = sized(options, { full: 60, short: 40, smoke: 4 });
          return count / ((await peer.publisher.call('read', { count, concurrency })) / 1_000);
        },
      },
      { name: `Fanfare, HTTP, shown page${at}`, measure: () => ours(SHOWN_PAGE) },
      { name: `Fanfare, HTTP, lean page${at}`, measure: () => ours(LEAN_PAGE) },
    ];
  });
  const series = await alternate(contenders, { rounds, warmUp });
  await environment.driver.db(`${DATABASE}_peer`).dropDatabase();
  const verdicts = CONCURRENCY.flatMap((concurrency): Verdict[] => {
    const at = `, ${String(concurrency)} at a time`;
    return ['shown', 'lean'].map((kind) =>
      judge('httpPeer', {
        name: `${kind} pages/s / the peer's${at}`,
        unit: '×',
        summary: ratioOf(
          seriesNamed(series, `Fanfare, HTTP, ${kind} page${at}`),
          seriesNamed(series, `peer, readFeed${at}`),
        ),
      }),
    );
  });
  const figures: Figure[] = series.map((entry) => ({
    name: entry.name,
    unit: 'pages/s',
    summary: summaryOf(entry),
  }));
  return {
    title: 'Reading beside the peer',
    about: [
      `The first ${String(FIRST)} of ${String(length)} activities. The peer is called by its own API inside its process; Fanfare answers GraphQL over HTTP with authentication, from a process of its own to a client in another.`,
      'Lean: what the action itself says. Shown: also names of actors and labels of refs. The peer has no names or labels: its activities carry ids.',
    ],
    figures,
    verdicts,
    charts: [
      {
        kind: 'bars',
        name: 'peer-read',
        title: `${String(FIRST)} of ${String(length)} activities`,
        unit: 'pages/s',
        bars: figures.map(({ name, summary: { median, min, max } }) => ({
          label: name,
          value: median,
          min,
          max,
        })),
      },
    ],
    raw: { length, series },
  };
}

async function expectPage(request: ReturnType<typeof graphqlRequest>): Promise<void> {
  using lane = await Lane.open(request);
  const { body } = readAnswer(await lane.send(request));
  if (body.split('"cursor"').length - 1 !== FIRST)
    throw new Error(`Instead of a page came ${body.slice(0, 500)}`);
}
