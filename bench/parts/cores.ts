import { availableParallelism } from 'node:os';
import { startApi, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, hammer } from '../harness/http-lanes.ts';
import { openInProcess } from '../harness/in-process.ts';
import { ratioOf, alternate, seriesNamed, summaryOf, type Contender } from '../harness/rounds.ts';
import type { PartReport } from '../harness/report.ts';
import { loadActions, loadFeed, loadNames } from '../world/feed.ts';
import { SHOWN_PAGE } from '../world/queries.ts';
import { openRawWorld } from '../world/raw.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_cores';
const READER = 'reader-of-pages';
const FIRST = 25;
const AT_ONCE = 32;
const ALONE = 'serve, one process';
const TOGETHER = 'serve --processes';

/** Pages a second of one process, and of as many as the machine has cores. */
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
  const figures = series.map((entry) => ({ name: entry.name, unit: 'pages/s', summary: summaryOf(entry) }));
  const summary = ratioOf(seriesNamed(series, TOGETHER), seriesNamed(series, ALONE));
  return {
    title: 'Many cores',
    about: [
      `The first ${String(FIRST)} items with names, ${String(AT_ONCE)} requests at a time over kept connections, answered by one process and by ${String(cores)}.`,
      'The database and the client that asks run on the same cores: what is left of them is what there is to gain.',
    ],
    figures: [...figures, { name: `${String(cores)} processes / one`, unit: '×', summary }],
    verdicts: [],
    charts: [],
    raw: { series, cores },
  };
}
