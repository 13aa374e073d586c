import { startApi, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, hammer } from '../harness/http-lanes.ts';
import { openInProcess } from '../harness/in-process.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { atMost, type PartReport } from '../harness/report.ts';
import { alternate, figureOf, ratioFigure, seriesNamed, median, type Series } from '../harness/rounds.ts';
import { quantile } from '../harness/statistics.ts';
import { loadActions, loadFeed, loadNames } from '../world/feed.ts';
import { FEED, measureOf, measurePage, PAGES } from '../world/other-pages.ts';
import { expectPage, rawPage, servicePage, startBareYoga } from '../world/pages.ts';
import { openRawWorld } from '../world/raw.ts';

const DATABASE = 'bench_page';
const READER = 'reader-of-pages';
const FIRST = 25;
const RAW = 'two raw queries, p50';
const SERVICE = 'service, whole request, p50';
const HTTP = measureOf(FEED, 'p50');
const YOGA = 'bare Yoga, same bytes as shown, p50';
const RATE = measureOf(FEED, 'rate');
const CPU = measureOf(FEED, 'api');

/** A page of a feed: the two raw queries, the service, HTTP, and bare Yoga with as many bytes. */
export const pagePart: Part = { name: 'page', run };

async function run({ environment, options, say }: PartContext): Promise<PartReport> {
  const length = sized(options, { full: 3_000, short: 1_000, smoke: 60 });
  const pages = sized(options, { full: 400, short: 200, smoke: 10 });
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  await loadFeed(world, READER, await loadActions(world, fanfare, length));
  await loadNames(fanfare);
  await using api = await startApi({ environment, database: DATABASE });
  const token = await tokenFor(READER);
  const shown = graphqlRequest(api.url, token, PAGES[FEED] ?? '');
  const bytes = await expectPage(shown, FIRST);
  await using bare = await startBareYoga(bytes);
  say(`${String(length)} items; pages of ${String(bytes)} bytes`);
  const contenders = [
    median(RAW, pages, () => rawPage(world.db, READER, FIRST)),
    median(SERVICE, pages, () => servicePage(fanfare, READER, FIRST)),
    await measurePage(FEED, { api, readers: [READER], count: pages }),
    async () => {
      const { latencies } = await hammer(bare.request, { count: pages, concurrency: 1 });
      return { [YOGA]: quantile(latencies, 0.5) };
    },
  ];
  const series = await alternate(
    contenders,
    roundsOf(options, { full: [9, 3], short: [3, 2], smoke: [1, 0] }),
  );
  const of = (name: string): Series => seriesNamed(series, name);
  const sum = (a: Series, b: Series): Series => ({
    name: `${a.name} + ${b.name}`,
    values: a.values.map((value, round) => value + (b.values[round] ?? NaN)),
  });
  return {
    title: 'A page of a feed',
    about: [
      `The first ${String(FIRST)} of ${String(length)} entries. The raw queries are those that the service sends, by the plain driver; they bring neither names nor labels. The service reads the marks of the reader as well.`,
      `Shown (${String(bytes)} bytes): with names of actors, labels of refs and a line of words with names, as a frontend shows them.`,
      'HTTP and bare Yoga are servers in processes of their own, asked over kept connections by one client. Bare Yoga is as its documentation shows it, without authentication or limits, and answers with one string.',
    ],
    figures: [
      ...[RAW, SERVICE, HTTP, YOGA].map((name) => figureOf(of(name), 'ms')),
      figureOf(of(RATE), 'pages/s'),
      atMost(1.5, '× the two raw queries', ratioFigure('service / raw queries', of(SERVICE), of(RAW))),
      atMost(
        1.2,
        '× both',
        ratioFigure('HTTP, shown page / (two raw queries + bare Yoga)', of(HTTP), sum(of(RAW), of(YOGA))),
      ),
      atMost(1.5, 'ms', figureOf(of(CPU), 'ms')),
    ],
    raw: { first: FIRST, length, bytes, series },
  };
}
