import { rm } from 'node:fs/promises';
import { upsertMembers } from '../../src/features/directory/directory.ts';
import { Closer } from '../../src/lib/closer.ts';
import { within } from '../../src/lib/within.ts';
import { startApi, tokenFor, type FanfareApi } from '../harness/fanfare.ts';
import { openInProcess, type InProcess } from '../harness/in-process.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { cpuByKind } from '../harness/process-usage.ts';
import { atLeast, atMost, type Figure, type PartReport } from '../harness/report.ts';
import { alternate, figureOf, ratioFigure, seriesNamed, type Measure } from '../harness/rounds.ts';
import { now } from '../harness/statistics.ts';
import { ratingInput } from '../world/actions.ts';
import { FEED_REF, loadActions, loadFeed, loadNames } from '../world/feed.ts';
import { fileOf, pathOf, ratingLines, runImport, sendBody } from '../world/lines.ts';
import { FEED, PAGES } from '../world/other-pages.ts';
import { readerId } from '../world/people.ts';
import { informPlanner, openRawWorld, type RawWorld } from '../world/raw.ts';
import { consumeAll, HAS_NATS, redisStreams, startNatsStreams, type Streams } from '../world/streams.ts';

const DATABASE = 'bench_doors';
const IMPORT = 'fanfare import, with its start';
const INGEST = 'POST /ingest';
/** Four processes, with their start. */
const consumed = (kind: string): string => `fanfare consume from ${kind}`;
const killed = (kind: string): string => `${consumed(kind)}, one killed every 2 s`;
const ETAG = 'a feed with its ETag: CPU, ms';
const PAGE = 'a page of a feed: CPU, ms';
const ENTITIES = '_entities of 100 members: CPU, ms';
const MEMBERS = 'members(first: 100): CPU, ms';
const KILL_EVERY_MS = 2_000;
const RATE = 'lines/s';
const CPU = 'CPU of all processes, µs a line';

/** What comes in and goes out beside /graphql: lines, feeds for feed readers, entities of a gateway. */
export const doorsPart: Part = { name: 'doors', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options } = context;
  const lines = sized(options, { full: 100_000, short: 10_000, smoke: 300 });
  const bodyMiB = sized(options, { full: 1_024, short: 200, smoke: 1 });
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  await using api = await startApi({
    ...{ environment, database: DATABASE },
    env: { INGEST: 'on', SYNDICATION: 'on', PUBLIC_URL: 'https://feed.example', FEDERATION: 'on' },
  });
  const doors: Doors = { context, world, fanfare, api, token: await tokenFor('importer', ['service']) };
  const asked = await alternate(
    await askedMeasures(doors),
    roundsOf(options, { full: [9, 2], short: [5, 2], smoke: [1, 0] }),
  );
  await using closer = new Closer();
  const streams = new Map([['Redis', redisStreams(environment)]]);
  if (HAS_NATS) streams.set('JetStream', closer.own(await startNatsStreams(environment)));
  const kinds = [...streams.keys()];
  const kills = new Map(kinds.map((kind) => [kind, 0]));
  const measures = [
    linesMeasure(doors, IMPORT, {
      lines,
      prepare: async (set) => void (await fileOf(pathOf(environment, set), ratingLines(set, lines))),
      work: (set) => runImport(pathOf(environment, set), environment, DATABASE),
      end: (set) => rm(pathOf(environment, set)),
    }),
    linesMeasure(doors, INGEST, {
      lines,
      work: async (set) => {
        const recorded = await sendBody(api.url, doors.token, ratingLines(set, lines));
        if (recorded !== lines) throw new Error(`${String(recorded)} lines were recorded`);
      },
    }),
    ...[...streams].flatMap(([kind, of]) => [
      consumeMeasure(doors, consumed(kind), { of, lines, killEveryMs: null }),
      consumeMeasure(doors, killed(kind), {
        ...{ of, lines, killEveryMs: KILL_EVERY_MS },
        onKilled: (count) => kills.set(kind, (kills.get(kind) ?? 0) + count),
      }),
    ]),
  ];
  const series = await alternate(measures, roundsOf(options, { full: [3, 1], short: [1, 0], smoke: [1, 0] }));
  const memory = await memoryFigures(doors, bodyMiB);
  const at = (name: string, what: string) => seriesNamed(series, `${name}: ${what}`);
  const cost = (name: string) => seriesNamed(asked, name);
  const ratio = (name: string, other: string, what: string) =>
    ratioFigure(`${name} / import: ${what}`, at(other, what), at(IMPORT, what));
  return {
    title: 'Other doors',
    about: [
      `${String(lines)} lines of new actions each time, as a file, a body, and a stream; no worker. Four processes consume a stream, and their start counts, as that of the import does. Afterwards so many actions more are stored: none is lost and none is there twice, also with killed processes (${kinds.map((kind) => `${kind}: ${String(kills.get(kind))}`).join(', ')}).`,
      'A feed for feed readers is asked for with its ETag, beside a page of 25 items. Entities are 100 members by their ids, beside `members(first: 100)`.',
      `For memory, a body of ${String(bodyMiB)} MiB has lines of 8 KiB that come again after 1,000, after one of a quarter of it. The server is looked at ten times a second.`,
    ],
    figures: [
      ...[IMPORT, INGEST].map((name) => figureOf(at(name, RATE), RATE)),
      atLeast(0.9, '×', ratio('ingest', INGEST, RATE)),
      ratio('ingest', INGEST, CPU),
      ...kinds.flatMap((kind) => [
        ...[consumed(kind), killed(kind)].map((name) => figureOf(at(name, RATE), RATE)),
        ratio(`consume from ${kind}`, consumed(kind), RATE),
        ratio(`consume from ${kind}`, consumed(kind), CPU),
        atLeast(0.7, '×', ratio(`consume from ${kind}, one killed every 2 s`, killed(kind), RATE)),
      ]),
      ...[ETAG, PAGE, ENTITIES, MEMBERS].map((name) => figureOf(cost(name), 'ms')),
      atMost(0.2, '×', ratioFigure(`${ETAG} / ${PAGE}`, cost(ETAG), cost(PAGE))),
      atMost(1.2, '×', ratioFigure(`${ENTITIES} / ${MEMBERS}`, cost(ENTITIES), cost(MEMBERS))),
      ...memory,
    ],
    raw: { lines, kills: Object.fromEntries(kills), series, asked },
  };
}

interface Doors {
  readonly context: PartContext;
  readonly world: RawWorld;
  readonly fanfare: InProcess;
  readonly api: FanfareApi;
  readonly token: string;
}

interface LinesWork {
  readonly lines: number;
  /** Before and after what is measured. */
  readonly prepare?: (set: string) => Promise<void>;
  readonly work: (set: string) => Promise<void>;
  readonly end?: (set: string) => Promise<void>;
}

/** How fast so many new lines become actions. */
function linesMeasure({ world }: Doors, name: string, { lines, prepare, work, end }: LinesWork): Measure {
  let sets = 0;
  return async () => {
    sets += 1;
    const set = `${name.replaceAll(/\W/g, '')}${String(sets)}`;
    await prepare?.(set);
    const before = await world.actions.countDocuments({});
    const cpu = allCpu();
    const since = now();
    await work(set);
    const seconds = (now() - since) / 1_000;
    const used = allCpu() - cpu;
    const more = (await world.actions.countDocuments({})) - before;
    if (more !== lines) throw new Error(`${name}: ${String(more)} actions instead of ${String(lines)}`);
    await end?.(set);
    return { [`${name}: ${RATE}`]: lines / seconds, [`${name}: ${CPU}`]: (used * 1e6) / lines };
  };
}

interface Consuming {
  readonly of: Streams;
  readonly lines: number;
  readonly killEveryMs: number | null;
  readonly onKilled?: (count: number) => void;
}

function consumeMeasure(
  doors: Doors,
  name: string,
  { of, lines, killEveryMs, onKilled }: Consuming,
): Measure {
  const { environment } = doors.context;
  return linesMeasure(doors, name, {
    lines,
    prepare: (set) => of.fill(set, ratingLines(set, lines)),
    async work(set) {
      const kills = await consumeAll({ environment, database: DATABASE }, [of, set], killEveryMs);
      onKilled?.(kills);
    },
    end: (set) => of.delete(set),
  });
}

function allCpu(): number {
  return [...cpuByKind(new Map()).values()].reduce((sum, seconds) => sum + seconds, 0);
}

/** CPU of the API and the databases for what is asked for one at a time. */
async function askedMeasures({ context, world, fanfare, api, token }: Doors): Promise<Measure[]> {
  const { options } = context;
  const reader = readerId(0);
  await loadNames(fanfare);
  const actions = await loadActions(world, fanfare, 300);
  await loadFeed(world, reader, actions);
  for (let n = 0; n < 50; n++) await fanfare.publish(ratingInput(n, [{ id: FEED_REF }], { scope: 'PUBLIC' }));
  const memberIds = Array.from({ length: 100 }, (_, n) => `of-gateway-${String(n)}`);
  const members = memberIds.map((memberId) => ({ memberId, name: `Name of ${memberId}` }));
  await upsertMembers(fanfare.app.core, fanfare.service, members);
  await informPlanner(world);
  const representations = memberIds.map((memberId) => ({ __typename: 'Member', memberId }));
  const feed = `${api.url}/feeds/ref/${FEED_REF}.atom`;
  const { headers } = await fetch(feed);
  const known = { headers: { 'if-none-match': headers.get('etag') ?? '' } };
  const graphql = (bearer: string, query: string, variables: object = {}) => ({
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const count = sized(options, { full: 200, short: 100, smoke: 5 });
  const of = (name: string, url: string, init: RequestInit, expected: string): Measure => {
    return async () => {
      const before = serverCpu();
      for (let n = 0; n < count; n++) {
        const response = await fetch(url, init);
        const text = await response.text();
        if (!`${String(response.status)} ${text}`.includes(expected)) throw new Error(`${name}: ${text}`);
      }
      return { [name]: ((serverCpu() - before) * 1_000) / count };
    };
  };
  const url = `${api.url}/graphql`;
  const fields = 'memberId name url teamId';
  const ask = (query: string, variables?: object) => graphql(token, query, variables);
  return [
    of(ETAG, feed, known, '304 '),
    of(PAGE, url, graphql(await tokenFor(reader), PAGES[FEED] ?? ''), '"hasNextPage":true'),
    of(
      ENTITIES,
      url,
      ask(
        `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Member { ${fields} } } }`,
        { representations },
      ),
      'Name of of-gateway-99',
    ),
    of(MEMBERS, url, ask(`{ members(first: 100) { edges { node { ${fields} } } } }`), '"memberId"'),
  ];
}

/** Of what is under test, without this process. */
function serverCpu(): number {
  const kinds = cpuByKind(new Map([[process.pid, 'benchmark']]));
  return [...kinds].reduce((sum, [kind, seconds]) => (kind === 'benchmark' ? sum : sum + seconds), 0);
}

const LINE_BYTES = 8_192;
const DIFFERENT = 1_000;

/** Lines that are recorded once and are known afterwards: the body is long, and not what is stored. */
function* longBody(bytes: number): Generator<string> {
  const text = 'x'.repeat(LINE_BYTES - 200);
  for (let n = 0; n * LINE_BYTES < bytes; n++) {
    const objectId = `memory-${String(n % DIFFERENT)}`;
    const custom = { verb: 'v', objectType: 'o', objectId, data: { text } };
    yield `${JSON.stringify({ idempotencyKey: objectId, actorId: 'a', descriptor: { custom } })}\n`;
  }
}

async function memoryFigures({ api, token }: Doors, bodyMiB: number): Promise<Figure[]> {
  const bytes = bodyMiB * 1_048_576;
  // What a first body makes the process take is taken once.
  await sendBody(api.url, token, longBody(bytes / 4));
  const seen: number[] = [];
  const sending = sendBody(api.url, token, longBody(bytes)).then(() => true);
  while (!(await within(100, sending, false))) seen.push((await api.call('memory', null)) / 1_048_576);
  const early = Math.max(...seen.slice(0, Math.ceil(seen.length / 5)));
  const most = Math.max(...seen);
  const figure = (name: string, unit: string, value: number): Figure => ({
    ...{ name, unit, summary: { median: value, min: value, max: value, count: 1 } },
  });
  return [
    figure('memory of the server, the most during a body', 'MiB', most),
    atMost(1.1, '×', figure('the same / the most in its first fifth', '×', most / early)),
  ];
}
