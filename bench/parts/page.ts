import { startChild } from '../harness/child.ts';
import { startApi, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, hammer, Lane, readAnswer, type WireRequest } from '../harness/http-lanes.ts';
import { openInProcess, type InProcess } from '../harness/in-process.ts';
import { withProfile } from '../harness/profile.ts';
import type { ProbeApi } from '../programs/probe.ts';
import type { PartReport } from '../harness/report.ts';
import { alternate, type Contender } from '../harness/rounds.ts';
import { now, quantile, timed } from '../harness/statistics.ts';
import { loadActions, loadFeed, loadNames } from '../world/feed.ts';
import { rawPage, serviceNamedPage, servicePage } from '../world/pages.ts';
import { LEAN_PAGE, SHOWN_PAGE } from '../world/queries.ts';
import { openRawWorld } from '../world/raw.ts';
import { NAMES, pageReport } from './page-report.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_page';
const READER = 'reader-of-pages';
const FIRST = 25;

/** A page of a feed: the two raw queries, the service, HTTP, and bare Yoga with as many bytes. */
export const pagePart: Part = { name: 'page', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say, profileDir } = context;
  const length = sized(options, { full: 3_000, short: 1_000, smoke: 60 });
  const pages = sized(options, { full: 400, short: 200, smoke: 10 });
  const rounds = roundsOf(options, { full: 9, short: 3, smoke: 1 });
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  await loadFeed(world, READER, await loadActions(world, fanfare, length));
  await loadNames(fanfare);
  // The planner takes the right index only once it has statistics; its own housekeeping makes them within seconds.
  await using api = await startApi({ environment, database: DATABASE, profileDir });
  const token = await tokenFor(READER);
  const lean = graphqlRequest(api.url, token, LEAN_PAGE, { first: FIRST });
  const shown = graphqlRequest(api.url, token, SHOWN_PAGE, { first: FIRST });
  const [leanBytes, shownBytes] = [await answerLength(lean), await answerLength(shown)];
  await using bareLean = await startBareYoga(leanBytes);
  await using bareShown = await startBareYoga(shownBytes);
  say(
    `pages of ${String(FIRST)} of ${String(length)} items; ${String(leanBytes)} and ${String(shownBytes)} bytes`,
  );
  const p50 = (name: string, page: () => Promise<unknown>): Contender => ({
    name,
    measure: () => median(pages, page),
  });
  const alone = (name: string, request: WireRequest): Contender => ({
    name,
    measure: async () => quantile((await hammer(request, { count: pages, concurrency: 1 })).latencies, 0.5),
  });
  const together = (name: string, request: WireRequest): Contender => ({
    name,
    measure: async () => pages / ((await hammer(request, { count: pages, concurrency: 10 })).total / 1_000),
  });
  const cpu: number[] = [];
  const series = await withProfile(profileDir, 'page-service', () =>
    alternate(
      [
        p50(NAMES.raw, () => rawPage(world.db, READER, FIRST)),
        { name: NAMES.known, measure: () => medianKnown(fanfare, pages) },
        p50(NAMES.service, () => servicePage(fanfare, READER, FIRST)),
        p50(NAMES.named, () => serviceNamedPage(fanfare, READER, FIRST)),
        alone(NAMES.httpLean, lean),
        alone(NAMES.bareLean, bareLean.request),
        alone(NAMES.httpShown, shown),
        alone(NAMES.bareShown, bareShown.request),
        together(NAMES.httpLeanRate, lean),
        together(NAMES.bareLeanRate, bareLean.request),
        {
          name: NAMES.httpShownRate,
          measure: async (round) => {
            const from = await api.call('cpu', null);
            const rate = await together(NAMES.httpShownRate, shown).measure(round);
            if (round >= 0) cpu.push(((await api.call('cpu', null)) - from) / 1_000 / pages);
            return rate;
          },
        },
        together(NAMES.bareShownRate, bareShown.request),
      ],
      { rounds, warmUp: sized(options, { full: 3, short: 2, smoke: 0 }) },
    ),
  );
  return pageReport({
    ...{ first: FIRST, length, leanBytes, shownBytes, series },
    cpu: { name: 'CPU of the API for a shown page, 10 at a time', values: cpu },
  });
}

/** The service alone once the reader's marks have been loaded, which a request does once. */
async function medianKnown(fanfare: InProcess, pages: number): Promise<number> {
  const { services } = fanfare.app;
  const times: number[] = [];
  for (let page = 0; page < pages; page++) {
    const session = services.openSession(fanfare.identity(READER));
    await session.profile();
    const from = now();
    const { edges } = await services.readFeed(session, { first: FIRST });
    times.push(now() - from);
    if (edges.length !== FIRST) throw new Error(`The page has ${String(edges.length)} entries`);
  }
  return quantile(times, 0.5);
}

async function median(count: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let page = 0; page < count; page++) times.push(await timed(work));
  return quantile(times, 0.5);
}

/** Bytes of the answer, which must be a whole page. */
async function answerLength(request: WireRequest): Promise<number> {
  using lane = await Lane.open(request);
  const { body } = readAnswer(await lane.send(request));
  const edges = body.split('"cursor"').length - 1;
  if (edges !== FIRST) throw new Error(`Instead of a page came ${body.slice(0, 500)}`);
  return Buffer.byteLength(body);
}

async function startBareYoga(bytes: number) {
  const child = startChild<ProbeApi>({ program: 'bench/programs/bare-yoga.ts', args: [String(bytes)] });
  const [, url = ''] = await child.line(/GraphQL +(http:\/\/\S+)\/graphql/);
  const request = graphqlRequest(url, null, '{ page }');
  using lane = await Lane.open(request);
  const length = Buffer.byteLength(readAnswer(await lane.send(request)).body);
  if (length !== bytes)
    throw new Error(`Bare Yoga answers ${String(length)} bytes instead of ${String(bytes)}`);
  return Object.assign(child, { request });
}
