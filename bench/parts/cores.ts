import { availableParallelism } from 'node:os';
import { Closer } from '../../src/lib/closer.ts';
import { startApi, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, hammer } from '../harness/http-lanes.ts';
import { openInProcess } from '../harness/in-process.ts';
import {
  alternate,
  ratioOf,
  seriesNamed,
  summaryOf,
  type Contender,
  type Series,
} from '../harness/rounds.ts';
import type { PartReport } from '../harness/report.ts';
import { loadActions, loadFeed, loadNames } from '../world/feed.ts';
import { SHOWN_PAGE } from '../world/queries.ts';
import { openFanOutWorld } from '../world/fan-out-world.ts';
import { openRawWorld } from '../world/raw.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_cores';
const READER = 'reader-of-pages';
const FIRST = 25;
const AT_ONCE = 32;
const ALONE = 'serve, one process';
const TOGETHER = 'serve --processes';

const FOLLOWERS = 10_000;
const REFS = 4;
const WORKER_ALONE = 'worker, one process';
const WORKERS = 'worker --processes';

/** Pages and deliveries a second of one process, and of as many as the machine has cores. */
export const coresPart: Part = { name: 'cores', run };

async function run({ environment, options, profileDir }: PartContext): Promise<PartReport> {
  const cores = availableParallelism();
  const count = sized(options, { full: 4_000, short: 1_000, smoke: 50 });
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  await loadFeed(world, READER, await loadActions(world, fanfare, 200));
  await loadNames(fanfare);
  const token = await tokenFor(READER);
  const of = { environment, database: DATABASE, profileDir };
  await using alone = await startApi(of);
  await using together = await startApi({ ...of, processes: cores });
  const rate = (name: string, url: string): Contender => {
    const request = graphqlRequest(url, token, SHOWN_PAGE, { first: FIRST });
    return {
      name,
      measure: async () => count / ((await hammer(request, { count, concurrency: AT_ONCE })).total / 1_000),
    };
  };
  const series = await alternate([rate(ALONE, alone.url), rate(TOGETHER, together.url)], {
    rounds: roundsOf(options, { full: 9, short: 3, smoke: 1 }),
    warmUp: sized(options, { full: 2, short: 1, smoke: 0 }),
  });
  await together[Symbol.asyncDispose]();
  await alone[Symbol.asyncDispose]();
  const fannedOut = await measureWorkers({ environment, options, profileDir }, cores);
  const all = [
    ...series.map((entry) => ({ entry, unit: 'pages/s' })),
    ...fannedOut.map((entry) => ({ entry, unit: 'deliveries/s' })),
  ];
  const figures = all.map(({ entry, unit }) => ({ name: entry.name, unit, summary: summaryOf(entry) }));
  const summary = ratioOf(seriesNamed(series, TOGETHER), seriesNamed(series, ALONE));
  const ofWorkers = ratioOf(seriesNamed(fannedOut, WORKERS), seriesNamed(fannedOut, WORKER_ALONE));
  return {
    title: 'Many cores',
    about: [
      `The first ${String(FIRST)} items with names, ${String(AT_ONCE)} requests at a time over kept connections, answered by one process and by ${String(cores)}.`,
      `Fan-out: a backlog of actions of refs with ${String(FOLLOWERS)} followers, published at once, until all are delivered, by one worker process and by ${String(cores)}.`,
      'The database and the client that asks run on the same cores: what is left of them is what there is to gain.',
    ],
    figures: [
      ...figures,
      { name: `pages, ${String(cores)} processes / one`, unit: '×', summary },
      { name: `deliveries, ${String(cores)} processes / one`, unit: '×', summary: ofWorkers },
    ],
    verdicts: [],
    charts: [],
    raw: { series, fannedOut, cores },
  };
}

/** Deliveries a second of a backlog. Each side has a database of its own, and works alone. */
async function measureWorkers(
  { environment, options }: Pick<PartContext, 'environment' | 'options' | 'profileDir'>,
  cores: number,
): Promise<readonly Series[]> {
  const followers = sized(options, { full: FOLLOWERS, short: 3_000, smoke: 200 });
  const actions = sized(options, { full: 24, short: 12, smoke: 2 });
  const backlog = async (name: string, processes: number, closer: Closer): Promise<Contender> => {
    const database = `${DATABASE}_workers_${String(processes)}`;
    const world = closer.own(
      await openFanOutWorld({
        ...{ environment, database, workerProcesses: processes },
        env: { CELEBRITY_THRESHOLD: '1000000' },
      }),
    );
    for (let ref = 0; ref < REFS; ref += 1) await world.follow(`site-${String(ref)}`, followers);
    return {
      name,
      measure: async () => {
        const from = Date.now();
        await Promise.all(
          Array.from({ length: actions }, (_, index) => world.publish(`site-${String(index % REFS)}`, from)),
        );
        const lags = (await world.drained()).map(({ lag }) => lag);
        return (actions * followers) / (Math.max(...lags) / 1_000);
      },
    };
  };
  await using closer = new Closer();
  const contenders = [await backlog(WORKER_ALONE, 1, closer), await backlog(WORKERS, cores, closer)];
  return await alternate(contenders, {
    rounds: roundsOf(options, { full: 7, short: 3, smoke: 1 }),
    warmUp: sized(options, { full: 1, short: 1, smoke: 0 }),
  });
}
