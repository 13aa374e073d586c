import { startApi } from '../harness/fanfare.ts';
import { openInProcess } from '../harness/in-process.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { atLeast, atMost, type Figure, type PartReport } from '../harness/report.ts';
import {
  alternate,
  figureOf,
  ratioFigure,
  seriesNamed,
  type Measure,
  type Series,
} from '../harness/rounds.ts';
import { FEED_REF, loadActions, loadFeed, loadNames, loadNotifications } from '../world/feed.ts';
import { COUNTED, measureOf, measurePage, PAGES } from '../world/other-pages.ts';
import { loadFollowers, readerId } from '../world/people.ts';
import { informPlanner, openRawWorld } from '../world/raw.ts';

const DATABASE = 'bench_other_pages';
const LENGTH = 300;
/** Pages a second that were set out for. */
const RATES: Readonly<Record<string, number>> = { badge: 1_000, slice: 450, [COUNTED]: 450 };
/** What is to cost no more than a page of a feed and a half. */
const BOUNDED = ['RECENT', 'TOP', 'types with total', 'groups', 'notifications'];

/** What an application asks for beside the page of a feed: the badge, other orders, groups, the page of a thing. */
export const otherPagesPart: Part = { name: 'other-pages', run };

async function run({ environment, options }: PartContext): Promise<PartReport> {
  const size = sized(options, { full: 200, short: 20, smoke: 2 });
  const readers = Array.from({ length: size }, (_, index) => readerId(index));
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  const actions = await loadActions(world, fanfare, LENGTH);
  await loadNames(fanfare);
  await loadFollowers(world.follows, FEED_REF, size);
  for (const reader of readers) {
    await loadFeed(world, reader, actions);
    await loadNotifications(world, reader, actions.slice(0, 30));
  }
  await informPlanner(world);
  await using api = await startApi({ environment, database: DATABASE });
  const count = sized(options, { full: 200, short: 100, smoke: 50 });
  const measures: Measure[] = [];
  for (const page of Object.keys(PAGES)) measures.push(await measurePage(page, { api, readers, count }));
  const series = await alternate(measures, roundsOf(options, { full: [7, 2], short: [3, 2], smoke: [1, 0] }));
  const of = (page: string, what: Parameters<typeof measureOf>[1]): Series =>
    seriesNamed(series, measureOf(page, what));
  return {
    title: 'Pages beside the page of a feed',
    about: [
      `Of ${String(size)} readers with ${String(LENGTH)} entries each, of which they have read none. CPU is that of the API, the database and Redis for a page, one at a time.`,
    ],
    figures: Object.keys(PAGES).flatMap((page): Figure[] => {
      const bound = RATES[page];
      const ratio = ratioFigure(`${page} / ${COUNTED}: CPU`, of(page, 'all'), of(COUNTED, 'all'));
      return [
        ...(bound === undefined ? [] : [atLeast(bound, 'pages/s', figureOf(of(page, 'rate'), 'pages/s'))]),
        ...(BOUNDED.includes(page) ? [atMost(1.5, '× a page of a feed with its unread count', ratio)] : []),
      ];
    }),
    raw: { readers: size, series },
  };
}
