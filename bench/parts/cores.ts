import { availableParallelism } from 'node:os';
import { Closer } from '../../src/lib/closer.ts';
import { startApi, tokenFor, type FanfareApi } from '../harness/fanfare.ts';
import { graphqlRequest, hammer, type WireRequest } from '../harness/http-lanes.ts';
import { openInProcess } from '../harness/in-process.ts';
import { pipeline } from '../harness/pipelines.ts';
import { cpuByKind } from '../harness/process-usage.ts';
import type { PartReport } from '../harness/report.ts';
import { alternate, type Contender } from '../harness/rounds.ts';
import { openFanOutWorld, type PartsCpu } from '../world/fan-out-world.ts';
import { loadActions, loadFeed, loadNames } from '../world/feed.ts';
import { SHOWN_PAGE } from '../world/queries.ts';
import { openRawWorld } from '../world/raw.ts';
import { reportCores, type Side, type Work } from './cores-report.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_cores';
const READER = 'reader-of-pages';
const FIRST = 25;
const AT_ONCE = 32;
/** An answer without data: what a process does for a request as such, and the database nothing. */
const SMALL = '{ __typename }';
const DEPTH = 8;

const FOLLOWERS = 10_000;
const REFS = 4;

/** What one process does in a second, and what as many as the machine has cores do. */
export const coresPart: Part = { name: 'cores', run };

async function run(context: PartContext): Promise<PartReport> {
  const cores = availableParallelism();
  const { pages, small } = await measureApi(context, cores);
  return reportCores({
    cores,
    works: [small, pages, await measureWorkers(context, cores)],
    about: [
      `Small answers: \`${SMALL}\`, ${String(AT_ONCE)} connections with ${String(DEPTH)} requests under way on each, asked for by a client that only counts bytes.`,
      `Pages: the first ${String(FIRST)} items with names, ${String(AT_ONCE)} requests at a time over kept connections.`,
      `Deliveries: a backlog of actions of refs with ${String(FOLLOWERS)} followers, published at once, until all are delivered.`,
    ],
  });
}

async function measureApi(
  { environment, options, profileDir }: PartContext,
  cores: number,
): Promise<Record<'pages' | 'small', Work>> {
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  await loadFeed(world, READER, await loadActions(world, fanfare, 200));
  await loadNames(fanfare);
  const token = await tokenFor(READER);
  const of = { environment, database: DATABASE, profileDir };
  await using alone = await startApi(of);
  await using together = await startApi({ ...of, processes: cores });
  const rounds = {
    rounds: roundsOf(options, { full: 9, short: 3, smoke: 1 }),
    warmUp: sized(options, { full: 2, short: 1, smoke: 0 }),
  };
  const compare = async (
    count: number,
    ask: (api: FanfareApi) => () => Promise<number>,
  ): Promise<Pick<Work, 'alone' | 'together'>> => {
    const sides = [
      side(apiCpu(alone), count, ask(alone)),
      side(apiCpu(together), count, ask(together)),
    ] as const;
    await alternate(sides, rounds);
    return { alone: sides[0], together: sides[1] };
  };
  const requestOf = ({ url }: FanfareApi, query: string): WireRequest =>
    graphqlRequest(url, token, query, query === SMALL ? {} : { first: FIRST });
  const pages = sized(options, { full: 4_000, short: 1_000, smoke: 50 });
  const small = sized(options, { full: 24_000, short: 8_000, smoke: 400 });
  const ofProcesses = { who: 'API', one: 'serve, one process', many: 'serve --processes' };
  return {
    small: {
      ...{ ...ofProcesses, what: 'small answers', unit: 'answers/s' },
      ...(await compare(small, (api) => () => {
        const request = requestOf(api, SMALL);
        return pipeline(request, { count: small, connections: AT_ONCE, depth: DEPTH });
      })),
    },
    pages: {
      ...{ ...ofProcesses, what: 'pages', unit: 'pages/s' },
      ...(await compare(pages, (api) => async () => {
        const request = requestOf(api, SHOWN_PAGE);
        return (await hammer(request, { count: pages, concurrency: AT_ONCE })).total;
      })),
    },
  };
}

/** Deliveries of a backlog. Each side has a database of its own, and works alone. */
async function measureWorkers({ environment, options }: PartContext, cores: number): Promise<Work> {
  const followers = sized(options, { full: FOLLOWERS, short: 3_000, smoke: 200 });
  const actions = sized(options, { full: 24, short: 12, smoke: 2 });
  const backlog = async (processes: number, closer: Closer): Promise<Contender & Side> => {
    const database = `${DATABASE}_workers_${String(processes)}`;
    const world = closer.own(
      await openFanOutWorld({
        ...{ environment, database, workerProcesses: processes },
        env: { CELEBRITY_THRESHOLD: '1000000' },
      }),
    );
    for (let ref = 0; ref < REFS; ref += 1) await world.follow(`site-${String(ref)}`, followers);
    return side(
      () => ofWorker(world.cpu()),
      actions * followers,
      async () => {
        const from = Date.now();
        await Promise.all(
          Array.from({ length: actions }, (_, index) => world.publish(`site-${String(index % REFS)}`, from)),
        );
        return Math.max(...(await world.drained()).map(({ lag }) => lag));
      },
    );
  };
  await using closer = new Closer();
  const [alone, together] = [await backlog(1, closer), await backlog(cores, closer)];
  await alternate([alone, together], {
    rounds: roundsOf(options, { full: 7, short: 3, smoke: 1 }),
    warmUp: sized(options, { full: 1, short: 1, smoke: 0 }),
  });
  return {
    ...{ what: 'deliveries', unit: 'deliveries/s', who: 'worker' },
    ...{ one: 'worker, one process', many: 'worker --processes' },
    ...{ alone, together },
  };
}

/** Measures pieces a second, and keeps what CPU they took. @param work gives the milliseconds of all pieces. */
function side(
  cpu: () => Side['spent'][number]['cpu'],
  pieces: number,
  work: () => Promise<number>,
): Contender & Side {
  const rates: number[] = [];
  const spent: Side['spent'][number][] = [];
  return {
    ...{ name: '', rates, spent },
    measure: async (round) => {
      const before = cpu();
      const milliseconds = await work();
      const after = cpu();
      const rate = pieces / (milliseconds / 1_000);
      if (round < 0) return rate;
      rates.push(rate);
      const of = (part: keyof typeof after): number => after[part] - before[part];
      spent.push({
        pieces,
        cpu: {
          ...{ processes: of('processes'), database: of('database') },
          ...{ redis: of('redis'), client: of('client') },
        },
      });
      return rate;
    },
  };
}

function apiCpu({ pid }: FanfareApi): () => Side['spent'][number]['cpu'] {
  const kinds = new Map([
    [process.pid, 'client'],
    [pid, 'processes'],
  ]);
  return () => {
    const of = cpuByKind(kinds);
    const sum = (...names: string[]): number => names.reduce((all, name) => all + (of.get(name) ?? 0), 0);
    return {
      ...{ processes: sum('processes'), database: sum('engine', 'gateway') },
      ...{ redis: sum('redis'), client: sum('client') },
    };
  };
}

/** What publishes counts as the client: there are few actions and many deliveries. */
function ofWorker({ worker, database, redis, api, benchmark }: PartsCpu): Side['spent'][number]['cpu'] {
  return { processes: worker, database, redis, client: api + benchmark };
}
