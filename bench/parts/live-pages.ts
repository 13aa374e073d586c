import { setTimeout as pause } from 'node:timers/promises';
import { startApi, startWorker, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, LanePool } from '../harness/http-lanes.ts';
import { openInProcess } from '../harness/in-process.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { atLeast, type PartReport } from '../harness/report.ts';
import { alternate, figureOf, ratioFigure, seriesNamed, type Measure } from '../harness/rounds.ts';
import { ratingInput } from '../world/actions.ts';
import { FEED_REF, loadActions, loadFeed, loadNames, loadNotifications } from '../world/feed.ts';
import { FEED, measureOf, measurePage } from '../world/other-pages.ts';
import { loadFollowers, readerId } from '../world/people.ts';
import { PUBLISH } from '../world/queries.ts';
import { informPlanner, openRawWorld } from '../world/raw.ts';

const DATABASE = 'bench_live_pages';
const LENGTH = 300;
const READERS = 20;
/** Milliseconds from one publication to the next. */
const EVERY_MS = 250;
/** Each is to come at two thirds of the rate of a page of the feed. */
const BESIDE = ['types with total', 'groups', 'TOP', 'notifications'];
const LEAST = 0.67;

/** Pages of readers whose feeds change all the time, so that nothing that was made for one page holds for the next. */
export const livePagesPart: Part = { name: 'live-pages', run };

async function run({ environment, options }: PartContext): Promise<PartReport> {
  const readers = Array.from({ length: READERS }, (_, index) => readerId(index));
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  const actions = await loadActions(world, fanfare, LENGTH);
  await loadNames(fanfare);
  await loadFollowers(world.follows, FEED_REF, READERS);
  for (const reader of readers) {
    await loadFeed(world, reader, actions);
    await loadNotifications(world, reader, actions.slice(0, 30));
  }
  await informPlanner(world);
  await using api = await startApi({ environment, database: DATABASE });
  await using _worker = await startWorker({ environment, database: DATABASE });
  await using pool = new LanePool(api.url, 10);
  const token = await tokenFor('publisher', ['service']);
  let published = LENGTH;
  const publish = (): Promise<string> => {
    const input = ratingInput(published++, [{ id: FEED_REF }], { mentions: readers });
    return pool.ask(graphqlRequest(api.url, token, PUBLISH, { input }));
  };
  /** What is measured while each of the readers receives something all the time. */
  const meanwhile =
    (measure: Measure): Measure =>
    async (round) => {
      const over = new AbortController();
      const publishing = (async () => {
        while (!over.signal.aborted) await Promise.all([publish(), pause(EVERY_MS)]);
      })();
      try {
        return await measure(round);
      } finally {
        over.abort();
        await publishing;
      }
    };
  const count = sized(options, { full: 300, short: 60, smoke: 10 });
  const measures: Measure[] = [];
  for (const page of [FEED, ...BESIDE])
    measures.push(meanwhile(await measurePage(page, { api, readers, count })));
  const series = await alternate(measures, roundsOf(options, { full: [5, 1], short: [3, 1], smoke: [1, 0] }));
  const rateOf = (page: string) => seriesNamed(series, measureOf(page, 'rate'));
  return {
    title: 'Pages while something is published all the time',
    about: [
      `Of ${String(READERS)} readers with ${String(LENGTH)} entries each, while ${String(1_000 / EVERY_MS)} publications a second reach and mention every one of them: pages a second, ten at a time.`,
    ],
    figures: [
      figureOf(rateOf(FEED), 'pages/s'),
      ...BESIDE.map((page) =>
        atLeast(LEAST, `× ${FEED}`, ratioFigure(`${page} / ${FEED}: pages/s`, rateOf(page), rateOf(FEED))),
      ),
    ],
    raw: { readers: READERS, series },
  };
}
