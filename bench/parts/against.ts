import { join } from 'node:path';
import { Closer } from '../../src/lib/closer.ts';
import type { ActionDocument, NewsfeedItemDocument } from '../../src/storage/documents/documents.ts';
import { checkOut } from '../harness/checkout.ts';
import { startApi, tokenFor, type FanfareApi } from '../harness/fanfare.ts';
import { graphqlRequest, hammer, Lane, readAnswer, type WireRequest } from '../harness/http-lanes.ts';
import { judge, type Figure, type PartReport, type Verdict } from '../harness/report.ts';
import {
  alternate,
  ratioOf,
  seriesNamed,
  summaryOf,
  type Contender,
  type Series,
} from '../harness/rounds.ts';
import { quantile } from '../harness/statistics.ts';
import { loadActions, loadFeed, namesOfFeed } from '../world/feed.ts';
import { LEAN_PAGE, PUBLISH, SHOWN_PAGE } from '../world/queries.ts';
import { eventsContender } from './against-events.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const READER = 'reader-of-pages';
const FIRST = 25;
const PAGES = { lean: LEAN_PAGE, shown: SHOWN_PAGE };

/** This checkout beside another commit: the same pages of the same feed, turn about. */
export const againstPart: Part = { name: 'against', run };

interface Side extends AsyncDisposable {
  readonly name: string;
  readonly api: FanfareApi;
  readonly requests: Readonly<Record<keyof typeof PAGES, WireRequest>>;
}

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say } = context;
  if (options.against === null) throw new Error('The part "against" needs --against COMMIT');
  const { folder, commit } = checkOut(options.against, join(environment.folder, 'against'), say);
  const length = sized(options, { full: 3_000, short: 500, smoke: 60 });
  const pages = sized(options, { full: 400, short: 200, smoke: 10 });
  await using before = await openSide(context, { name: 'before', checkout: folder, length });
  await using now = await openSide(context, { name: 'now', length });
  const cpu = new Map<string, number[]>();
  await using closer = new Closer();
  const events = [
    await eventsContender(context, closer, { name: 'before', checkout: folder, cpu }),
    await eventsContender(context, closer, { name: 'now', cpu }),
  ];
  const pagesOf = [before, now].flatMap((side) =>
    Object.entries(side.requests).flatMap(([kind, request]) => [
      alone(`${kind} page, p50, ${side.name}`, request, pages),
      together(`${kind} page, 10 at a time, ${side.name}`, { side, request, pages, cpu }),
    ]),
  );
  const series = await alternate([...pagesOf, ...events], {
    rounds: roundsOf(options, { full: 9, short: 3, smoke: 1 }),
    warmUp: sized(options, { full: 3, short: 2, smoke: 1 }),
  });
  return report({ commit, length, series: [...series, ...cpuSeries(cpu)] });
}

function alone(name: string, request: WireRequest, pages: number): Contender {
  return {
    name,
    measure: async () => quantile((await hammer(request, { count: pages, concurrency: 1 })).latencies, 0.5),
  };
}

interface Together {
  readonly side: Side;
  readonly request: WireRequest;
  readonly pages: number;
  /** Takes the CPU of a page in each round, in milliseconds, under the name of what was measured. */
  readonly cpu: Map<string, number[]>;
}

function together(name: string, { side, request, pages, cpu }: Together): Contender {
  return {
    name,
    measure: async (round) => {
      const from = await side.api.call('cpu', null);
      const { total } = await hammer(request, { count: pages, concurrency: 10 });
      const used = ((await side.api.call('cpu', null)) - from) / 1_000 / pages;
      if (round >= 0) cpu.set(name, [...(cpu.get(name) ?? []), used]);
      return pages / (total / 1_000);
    },
  };
}

function cpuSeries(cpu: ReadonlyMap<string, readonly number[]>): Series[] {
  return Array.from(cpu, ([name, values]) => ({ name: cpuName(name), values }));
}

function cpuName(name: string): string {
  return name.replace('10 at a time', 'CPU of the API a page');
}

interface SideOptions {
  readonly name: string;
  readonly checkout?: string;
  readonly length: number;
}

/** An API process on a database of its own, which it fills itself: a release may store things in another way. */
async function openSide(context: PartContext, { name, checkout, length }: SideOptions): Promise<Side> {
  const { environment, profileDir } = context;
  const database = `bench_against_${name}`;
  const api = await startApi({ environment, database, profileDir, checkout });
  const db = environment.driver.db(database);
  const world = {
    actions: db.collection<ActionDocument>('actions'),
    items: db.collection<NewsfeedItemDocument>('newsfeedItems'),
  };
  const host = await tokenFor('host', ['service']);
  const ask = (query: string, variables: Readonly<Record<string, unknown>>): Promise<void> =>
    answered(graphqlRequest(api.url, host, query, variables));
  await ask(NAME_ALL, namesOfFeed());
  await loadFeed(
    world,
    READER,
    await loadActions(world, { publish: (input) => ask(PUBLISH, { input }) }, length),
  );
  const token = await tokenFor(READER);
  const request = (query: string): WireRequest => graphqlRequest(api.url, token, query, { first: FIRST });
  const requests = { lean: request(PAGES.lean), shown: request(PAGES.shown) };
  for (const page of Object.values(requests)) await answered(page, FIRST);
  return {
    name,
    api,
    requests,
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]();
      await db.dropDatabase();
    },
  };
}

const NAME_ALL = `mutation NameAll($members: [MemberInput!]!, $refs: [RefInput!]!) {
  upsertMembers(members: $members)
  upsertRefs(refs: $refs)
}`;

/** @throws Error unless the answer is one without errors, and has so many entries. */
async function answered(request: WireRequest, entries = 0): Promise<void> {
  using lane = await Lane.open(request);
  const { body } = readAnswer(await lane.send(request));
  if (body.includes('"errors"') || body.split('"cursor"').length - 1 !== entries)
    throw new Error(`Instead of what was asked for came ${body.slice(0, 500)}`);
}

/** The rows of the table of targets that compare with an earlier commit. */
const ROWS = [
  ['shown page, 10 at a time, now', 'shownBefore'],
  ['lean page, 10 at a time, now', 'leanBefore'],
  ['events/s', 'eventsBefore'],
] as const;

function socketsIn(name: string): number {
  return Number(/to (\d+) sockets/.exec(name)?.[1] ?? 0);
}

function judged(ratio: Figure): Verdict[] {
  return ROWS.filter(([name]) => ratio.name.startsWith(name)).map(([, row]) =>
    judge(row, ratio, row === 'eventsBefore' ? socketsIn(ratio.name) : undefined),
  );
}

function report(measured: {
  readonly commit: string;
  readonly length: number;
  readonly series: readonly Series[];
}): PartReport {
  const { series, commit, length } = measured;
  const unitOf = (name: string): string =>
    name.startsWith('events/s') ? 'events/s' : name.includes('10 at a time') ? 'pages/s' : 'ms';
  const ratios = series
    .filter(({ name }) => name.endsWith(', now'))
    .map((now): Figure => {
      const before = seriesNamed(series, now.name.replace(/now$/, 'before'));
      return { name: `${now.name} / before`, unit: '×', summary: ratioOf(now, before) };
    });
  return {
    title: 'This checkout beside another commit',
    about: [
      `Before is commit ${commit}. Each is one API process of its own build on a database of its own, on the same engine.`,
      `Pages are the first ${String(FIRST)} of ${String(length)} entries, as in the part \`page\`. Each thing is measured turn about, and a ratio is taken of the same round.`,
      'Events: actions published at once, from the mutation to the last receipt. Each build has an API, a worker and sockets of its own.',
    ],
    figures: [
      ...series.map((entry) => ({ name: entry.name, unit: unitOf(entry.name), summary: summaryOf(entry) })),
      ...ratios.filter((ratio) => judged(ratio).length === 0),
    ],
    verdicts: ratios.flatMap(judged),
    charts: [],
    raw: { ...measured },
  };
}
