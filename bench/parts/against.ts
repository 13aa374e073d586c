import { join } from 'node:path';
import { Closer } from '../../src/lib/closer.ts';
import { ownDatabase } from '../harness/environment.ts';
import type { ActionDocument, NewsfeedItemDocument } from '../../src/storage/documents/documents.ts';
import { checkOut } from '../harness/checkout.ts';
import { startApi, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest } from '../harness/http-lanes.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { atLeast, type PartReport } from '../harness/report.ts';
import {
  alternate,
  figureOf,
  ratioFigure,
  seriesNamed,
  type Measure,
  type Series,
} from '../harness/rounds.ts';
import { formatSummary } from '../harness/statistics.ts';
import { loadActions, loadFeed, namesOfFeed } from '../world/feed.ts';
import { expectPage } from '../world/pages.ts';
import { openFanfare } from '../world/pushing.ts';
import { COUNTED, FEED, measureOf, measurePage } from '../world/other-pages.ts';
import { PUBLISH } from '../world/queries.ts';
import { measureSmallWrites, WRITES_FASTER } from '../world/small-writes.ts';
import { rateOf } from './push.ts';

const READER = 'reader-of-pages';
const SOCKETS = 1_000;

/** This checkout beside another commit: the same pages of the same feed and the same events, turn about. */
export const againstPart: Part = { name: 'against', run };

interface Side {
  readonly name: 'before' | 'now';
  readonly checkout?: string;
}

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say } = context;
  if (options.against === null) throw new Error('The part "against" needs --against COMMIT');
  const { folder, commit } = checkOut(options.against, join(environment.folder, 'against'), say);
  const length = sized(options, { full: 3_000, short: 500, smoke: 60 });
  await using closer = new Closer();
  const sides: readonly Side[] = [{ name: 'before', checkout: folder }, { name: 'now' }];
  const measures: Measure[] = [];
  for (const side of sides) measures.push(...(await pageMeasures(context, closer, side, length)));
  for (const side of sides) measures.push(await eventsMeasure(context, closer, side));
  for (const side of sides) measures.push(...(await writesMeasures(context, closer, side)));
  const series = await alternate(measures, roundsOf(options, { full: [9, 5], short: [3, 5], smoke: [1, 1] }));
  return {
    title: 'This checkout beside another commit',
    about: [
      `Before is commit ${commit}. Each is one API process of its own build on a database of its own, on the same engine. Each thing is measured turn about, and a ratio is taken of the same round.`,
      `Pages are the first 25 of ${String(length)} entries, as in the part \`page\`. Events: actions published at once, from the mutation to the last receipt; each build has an API, a worker and sockets of its own.`,
    ],
    figures: series
      .filter(({ name }) => name.endsWith(', now'))
      .map((now) => {
        const what = now.name.replace(/, now$/, '');
        const before = seriesNamed(series, `${what}, before`);
        const shown = (entry: Series): string => formatSummary(figureOf(entry, '').summary, '');
        const note = `now ${shown(now)}, before ${shown(before)}`;
        const figure = ratioFigure(`${what}: now / before`, now, before, note);
        const target = TARGETS[what];
        return target === undefined ? figure : atLeast(target, '× before', figure);
      }),
    raw: { commit, length, series },
  };
}

/** An API process on a database of its own, which it fills itself: a release may store things in another way. */
async function pageMeasures(
  { environment, options }: PartContext,
  closer: Closer,
  { name, checkout }: Side,
  length: number,
): Promise<readonly Measure[]> {
  const database = `bench_against_${name}`;
  const db = ownDatabase(environment, closer, database);
  const api = closer.own(await startApi({ environment, database, checkout }));
  const world = {
    actions: db.collection<ActionDocument>('actions'),
    items: db.collection<NewsfeedItemDocument>('newsfeedItems'),
  };
  const host = await tokenFor('host', ['service']);
  const ask = (query: string, variables: Readonly<Record<string, unknown>>): Promise<number> =>
    expectPage(graphqlRequest(api.url, host, query, variables), 0);
  await ask(NAME_ALL, namesOfFeed());
  const publish = (input: object): Promise<number> => ask(PUBLISH, { input });
  await loadFeed(world, READER, await loadActions(world, { publish }, length));
  const count = sized(options, { full: 400, short: 200, smoke: 50 });
  const of = { api, readers: [READER], count, side: `, ${name}` };
  return [await measurePage(FEED, of), await measurePage(COUNTED, of), await measurePage('groups', of)];
}

/** What readers write, with the worker in the process of the API. */
async function writesMeasures(
  { environment, options }: PartContext,
  closer: Closer,
  { name, checkout }: Side,
): Promise<readonly Measure[]> {
  const database = `bench_against_writes_${name}`;
  const db = ownDatabase(environment, closer, database);
  const api = closer.own(await startApi({ environment, database, checkout }, true));
  const count = sized(options, { full: 200, short: 200, smoke: 20 });
  return measureSmallWrites({ actions: db.collection('actions') }, { api, count, side: `, ${name}` });
}

/** Events/s to many sockets of one build: API, worker and sockets of its own. */
async function eventsMeasure(
  context: PartContext,
  closer: Closer,
  { name, checkout }: Side,
): Promise<Measure> {
  const sockets = sized(context.options, { full: SOCKETS, short: SOCKETS, smoke: 20 });
  const burst = sized(context.options, { full: 20, short: 20, smoke: 2 });
  const pushing = await openFanfare(context, closer, {
    ...{ database: `bench_against_events_${name}`, followers: sockets, watching: sockets },
    ...(checkout === undefined ? {} : { checkout }),
  });
  return async () => {
    const from = await pushing.api.call('cpu', null);
    const rate = await rateOf(pushing, burst, sockets);
    const cpu = ((await pushing.api.call('cpu', null)) - from) / (burst * sockets);
    return {
      [`events/s to ${String(sockets)} sockets, ${name}`]: rate,
      [`CPU of the API for an event, µs, ${name}`]: cpu,
    };
  };
}

const NAME_ALL = `mutation NameAll($members: [MemberInput!]!, $refs: [RefInput!]!) {
  upsertMembers(members: $members)
  upsertRefs(refs: $refs)
}`;

/** What 595d98a0 is to be left behind by. */
const TARGETS: Readonly<Record<string, number>> = { [measureOf(FEED, 'rate')]: 1.15, ...WRITES_FASTER };
