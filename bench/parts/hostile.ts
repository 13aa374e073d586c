import { ObjectId } from 'mongodb';
import type { ActionDocument } from '../../src/storage/documents/documents.ts';
import { startApi, tokenFor, type FanfareApi } from '../harness/fanfare.ts';
import { graphqlRequest, Lane, type WireRequest } from '../harness/http-lanes.ts';
import { openInProcess } from '../harness/in-process.ts';
import { judge, type PartReport } from '../harness/report.ts';
import { alternate, ratioOf, seriesNamed, summaryOf, type Contender } from '../harness/rounds.ts';
import { once } from '../harness/statistics.ts';
import type { Memory } from '../programs/probe.ts';
import { loadActions, loadFeed, loadNames } from '../world/feed.ts';
import { SHOWN_PAGE } from '../world/queries.ts';
import { load, openRawWorld } from '../world/raw.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_hostile';
const FIRST = 25;
const AT_ONCE = 8;
/** Little, so that what the clients ask for does not fit many times over. */
const CACHE_MIB = 4;
const WITH = 'with caches';
const WITHOUT = 'READ_CACHE=0KiB';
const KINDS = ['operations', 'actions'] as const;
type Kind = (typeof KINDS)[number];

/** Clients that make caches useless: every operation is another one, or every page has actions nobody else has. */
export const hostilePart: Part = { name: 'hostile', run };

interface Side {
  readonly name: string;
  readonly api: FanfareApi;
  /** Requests of a round: none of them comes a second time, or not before everything held has been pushed out. */
  readonly requests: (kind: Kind) => readonly WireRequest[];
}

async function run({ environment, options, say }: PartContext): Promise<PartReport> {
  const readers = sized(options, { full: 400, short: 200, smoke: 10 });
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  const [template] = await loadActions(world, fanfare, 1);
  if (template === undefined) throw new Error('There is no action');
  await loadNames(fanfare);
  const actions = Array.from({ length: readers * FIRST }, (_, index) => copyOf(template, index));
  await load(world.actions, actions.length, (index) => actions[index] ?? template);
  for (let reader = 0; reader < readers; reader += 1)
    await loadFeed(world, readerOf(reader), actions.slice(reader * FIRST, (reader + 1) * FIRST));
  const of = { environment, database: DATABASE, profileDir: null };
  await using cached = await startApi({ ...of, env: { READ_CACHE: `${String(CACHE_MIB)}MiB` } });
  await using plain = await startApi({ ...of, env: { READ_CACHE: '0KiB' } });
  const sides = [await sideOf(WITH, cached, readers), await sideOf(WITHOUT, plain, readers)];
  const before = await Promise.all(sides.map(({ api }) => api.call('memory', null)));
  const series = await alternate(
    sides.flatMap((side) => KINDS.map((kind) => contender(side, kind))),
    {
      rounds: roundsOf(options, { full: 9, short: 3, smoke: 1 }),
      warmUp: sized(options, { full: 2, short: 1, smoke: 1 }),
    },
  );
  const after = await Promise.all(sides.map(({ api }) => api.call('memory', null)));
  const [grown = NaN, grownWithout = NaN] = after.map(
    (memory, index) => mib(memory) - mib(before[index] ?? memory),
  );
  say(`grown by ${grown.toFixed(1)} MiB with caches, ${grownWithout.toFixed(1)} without`);
  const ratios = KINDS.map((kind) =>
    judge('hostile', {
      ...{ name: `all different ${kind}: CPU of a page ${WITH} / ${WITHOUT}`, unit: '×' },
      summary: ratioOf(seriesNamed(series, nameOf(WITH, kind)), seriesNamed(series, nameOf(WITHOUT, kind))),
    }),
  );
  // What both hold alike, such as operations that were parsed, is no matter of this setting.
  const held = Math.max(0.001, grown - grownWithout) / CACHE_MIB;
  return {
    title: 'Clients that make caches useless',
    about: [
      `Pages of ${String(FIRST)} as frontends show them, ${String(AT_ONCE)} at a time. All different operations: each request has a text of its own. All different actions: ${String(readers)} readers who have no action in common, several times as much as the ${String(CACHE_MIB)} MiB that READ_CACHE allows, in turn.`,
      'CPU of the API for a page, beside an API that holds nothing. Memory: heap and buffers in use after collections of garbage, what the caches add to it.',
    ],
    figures: [
      ...series.map((entry) => ({ name: entry.name, unit: 'ms', summary: summaryOf(entry) })),
      { name: `heap and buffers grown, ${WITH}`, unit: 'MiB', summary: once(Math.max(0.001, grown), WITH) },
      {
        name: `heap and buffers grown, ${WITHOUT}`,
        unit: 'MiB',
        summary: once(Math.max(0.001, grownWithout), WITHOUT),
      },
    ],
    verdicts: [
      ...ratios,
      judge('hostileMemory', {
        ...{ name: `what the caches hold / READ_CACHE of ${String(CACHE_MIB)} MiB`, unit: '×' },
        summary: once(held, 'held'),
      }),
    ],
    charts: [],
    raw: { series, before, after, readers },
  };
}

function readerOf(index: number): string {
  return `reader-of-their-own-${String(index)}`;
}

function copyOf(template: ActionDocument, index: number): ActionDocument {
  const time = new Date(Date.now() - index * 1_000);
  return { ...template, _id: new ObjectId(), conducted: time, recorded: time, latest: time };
}

function nameOf(side: string, kind: Kind): string {
  return `all different ${kind}, CPU of a page, ${side}`;
}

async function sideOf(name: string, api: FanfareApi, readers: number): Promise<Side> {
  const tokens = await Promise.all(Array.from({ length: readers }, (_, index) => tokenFor(readerOf(index))));
  let asked = 0;
  return {
    name,
    api,
    requests: (kind) =>
      tokens.map((token) =>
        kind === 'actions'
          ? graphqlRequest(api.url, token, SHOWN_PAGE, { first: FIRST })
          : // One reader's page, asked for under another name each time.
            graphqlRequest(
              api.url,
              tokens[0] ?? token,
              SHOWN_PAGE.replace('query Page', `query Page${String(asked++)}`),
              { first: FIRST },
            ),
      ),
  };
}

/** Milliseconds of the API's CPU for a page. */
function contender({ name, api, requests }: Side, kind: Kind): Contender {
  return {
    name: nameOf(name, kind),
    measure: async () => {
      const all = requests(kind);
      const from = await api.call('cpu', null);
      await sendAll(all);
      return ((await api.call('cpu', null)) - from) / 1_000 / all.length;
    },
  };
}

async function sendAll(requests: readonly WireRequest[]): Promise<void> {
  const [first] = requests;
  if (first === undefined) return;
  let next = 0;
  const lane = async (): Promise<void> => {
    using connection = await Lane.open(first);
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const answer = (await connection.send(request)).toString();
      if (answer.split('"cursor"').length - 1 !== FIRST)
        throw new Error(`Not a page: ${answer.slice(0, 500)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

function mib({ heapUsed, external, code }: Memory): number {
  return (heapUsed + external - code) / 2 ** 20;
}
