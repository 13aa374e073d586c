import { cpus } from 'node:os';
import { Closer } from '../../../src/lib/closer.ts';
import { FEED_MODEL_NAMES } from '../../../src/app/feed-models.ts';
import type { UnitCosts, UnitWork } from '../src/unit-costs.ts';
import { startChild } from '../../../bench/harness/child.ts';
import { startApi, tokenFor } from '../../../bench/harness/fanfare.ts';
import { graphqlRequest, hammer } from '../../../bench/harness/http-lanes.ts';
import { openInProcess } from '../../../bench/harness/in-process.ts';
import { loadBefore, provenance } from '../../../bench/harness/machine.ts';
import { cpuByKind } from '../../../bench/harness/process-usage.ts';
import type { PartReport } from '../../../bench/harness/report.ts';
import { quantile } from '../../../bench/harness/statistics.ts';
import { WATCH } from '../../../bench/harness/watcher.ts';
import type { SocketsApi } from '../../../bench/programs/sockets.ts';
import { followForCosts, measureFanOutCosts, type CostSizes } from './fan-out-costs.ts';
import { openFanOutWorld, type FanOutWorld } from './fan-out-world.ts';
import { FEED_REF, loadActions, loadFeed, loadNames } from '../../../bench/world/feed.ts';
import { bigRefId, loadBigRefs, loadFollowing, loadSpreadActions } from './models-pulled.ts';
import { readerId } from '../../../bench/world/people.ts';
import { SHOWN_PAGE } from '../../../bench/world/queries.ts';
import { informPlanner, openRawWorld } from '../../../bench/world/raw.ts';
import { measureWake } from './wake-costs.ts';
import { sized, type Part, type PartContext } from '../../../bench/harness/part.ts';

const DATABASE = 'bench_unit_costs';
const FIRST = 25;
const AT_ONCE = 10;
const HOUR = 3_600_000;
const WATCHED = 'site-everybody-watches';
/** Pulled refs that readers of the page follow: none, one, many. */
const MANY_PULLED = 40;

/** A first page for which nothing is asked ahead of what the reader was last shown: one with a bound is not. */
const BOUNDED_PAGE = SHOWN_PAGE.replace(
  '(first: $first)',
  '(first: $first, filter: { since: "2000-01-01T00:00:00Z" })',
);

/** What one piece of each kind of work costs: what `fanfare plan` counts with. */
export const unitCostsPart: Part = { name: 'unit-costs', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say } = context;
  const of = await provenance(environment, await loadBefore());
  const sizes: CostSizes = sized(options, {
    full: { one: 300, chunk: 60, pairs: 30, bursts: 12, followers: 5_000 },
    short: { one: 150, chunk: 20, pairs: 20, bursts: 6, followers: 5_000 },
    smoke: { one: 3, chunk: 2, pairs: 1, bursts: 1, followers: 1_500 },
  });
  const fewer: CostSizes = sized(options, {
    full: { one: 40, chunk: 10, pairs: 8, bursts: 1, followers: 4_000 },
    short: { one: 20, chunk: 5, pairs: 2, bursts: 1, followers: 3_000 },
    smoke: { one: 2, chunk: 1, pairs: 1, bursts: 1, followers: 1_200 },
  });
  const { items, ...others } = await ofModels(context, (model) => (model === 'items' ? sizes : fewer));
  if (items === undefined) throw new Error('The model items was not measured');
  say('wake-ups');
  const wakes = sized(options, {
    full: { count: 150, turns: 4, many: 6 },
    short: { count: 150, turns: 2, many: 6 },
    smoke: { count: 3, turns: 1, many: 3 },
  });
  const wake = rounded(await measureWake(environment, `${DATABASE}_wake`, wakes));
  say('pages');
  const pages = await ofPages(context);
  say('events');
  const event = await ofEvents(context);
  const costs: UnitCosts = {
    publish: roundedWork(items.publish),
    pass: roundedWork(items.pass),
    wake,
    ...rounded({ chunkWait: items.chunkWait }),
    ...pages,
    event,
    models: Object.fromEntries(
      Object.entries({ items, ...others }).map(([name, model]) => [
        name,
        { delivery: rounded(model.delivery), bytes: rounded(model.bytes) },
      ]),
    ),
    bytes: rounded({ action: items.action, follow: items.follow }),
    measured: {
      ...{ at: of.measuredAt, commit: of.commit, cores: cpus().length, load: of.machine.loadBefore },
      ...{ cpu: of.machine.cpu, engine: of.versions.engine },
    },
  };
  return report(costs);
}

/** What a model costs, and what its database has come to. */
interface OfModel extends Awaited<ReturnType<typeof measureFanOutCosts>> {
  readonly bytes: UnitCosts['models'][string]['bytes'];
  readonly action: number;
  readonly follow: number;
}

async function ofModels(
  { environment, say }: PartContext,
  sizesOf: (model: string) => CostSizes,
): Promise<Readonly<Record<string, OfModel>>> {
  const measured: Record<string, OfModel> = {};
  for (const model of FEED_MODEL_NAMES) {
    say(`deliveries of ${model}`);
    const database = `${DATABASE}_${model.replaceAll('-', '_')}`;
    await using world = await openFanOutWorld({
      ...{ environment, database },
      env: { FEED_MODEL: model, CELEBRITY_THRESHOLD: '1000000' },
    });
    const sizes = sizesOf(model);
    await followForCosts(world, sizes);
    const costs = await measureFanOutCosts(world, sizes);
    const feeds = await feedBytes(world);
    const keys = await environment.redis.keys(`fanfare:${database}:*`);
    const redis = await redisBytes(environment, keys);
    const actions = await world.world.actions.countDocuments({});
    const entries = await delivered(world);
    measured[model] = {
      ...costs,
      bytes: { database: feeds.entries / entries, redis: redis / entries },
      action: feeds.actions / actions,
      follow: feeds.follows / (sizes.followers + 1_001),
    };
  }
  return measured;
}

/** Entries that feeds have been given: nothing here is delivered to anybody twice. */
async function delivered({ world }: FanOutWorld): Promise<number> {
  const [found] = await world.actions
    .aggregate<{ readonly sum: number }>([{ $group: { _id: null, sum: { $sum: '$fanOut.delivered' } } }])
    .toArray();
  return Math.max(1, found?.sum ?? 0);
}

/** Bytes of collections with their indexes. */
async function feedBytes({ world }: FanOutWorld) {
  const sizeOf = async (name: string): Promise<number> => {
    const { totalSize }: { totalSize?: unknown } = await world.db.command({ collStats: name });
    if (typeof totalSize !== 'number') throw new Error(`collStats of ${name} tells no total size`);
    return totalSize;
  };
  let entries = 0;
  for (const name of ['newsfeedItems', 'feedSlots', 'timeBuckets', 'sizeBuckets', 'feedTops'])
    if ((await world.db.collection(name).estimatedDocumentCount()) > 0) entries += await sizeOf(name);
  return { entries, actions: await sizeOf('actions'), follows: await sizeOf('follows') };
}

async function redisBytes({ redis }: PartContext['environment'], keys: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const key of keys) bytes += (await redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;
  return bytes;
}

/**
 * Pages of readers who follow none, one and many of the pulled refs. What pulled refs cost is that of pages of readers whom
 * the process has not just shown a page: a process that serves many readers does not remember what each needed.
 */
async function ofPages({ environment, options }: PartContext): Promise<Pick<UnitCosts, 'page' | 'pulled'>> {
  const database = `${DATABASE}_pages`;
  const count = sized(options, { full: 2_000, short: 500, smoke: 20 });
  await using world = await openRawWorld(environment, database);
  await using fanfare = await openInProcess(environment, database, { worker: false });
  const [template] = await loadActions(world, fanfare, 1);
  if (template === undefined) throw new Error('There is no action');
  await world.actions.deleteOne({ _id: template._id });
  const stored = await loadSpreadActions(world, template, [FEED_REF], {
    ...{ each: 500, apartMs: HOUR, isPulled: false },
  });
  await loadNames(fanfare);
  const refIds = Array.from({ length: MANY_PULLED }, (_, index) => bigRefId(index));
  await loadBigRefs(world, refIds, { followers: 1_000_000, isPulled: true });
  await loadSpreadActions(world, template, refIds, { each: 50, apartMs: 6 * HOUR, isPulled: true });
  for (const pulled of [0, 1, MANY_PULLED]) {
    await loadFeed(world, `reader-of-${String(pulled)}`, stored);
    await loadFollowing(world, `reader-of-${String(pulled)}`, refIds.slice(0, pulled));
  }
  await informPlanner(world);
  await using api = await startApi({ environment, database });
  const kinds = new Map([
    [process.pid, 'benchmark'],
    [api.pid, 'api'],
  ]);
  const costOf = async (pulled: number, document = BOUNDED_PAGE): Promise<UnitWork> => {
    const token = await tokenFor(`reader-of-${String(pulled)}`);
    const request = graphqlRequest(api.url, token, document, { first: FIRST });
    await hammer(request, { count: Math.ceil(count / 4), concurrency: AT_ONCE });
    const alone = await hammer(request, { count: Math.ceil(count / 10), concurrency: 1 });
    const before = cpuByKind(kinds);
    await hammer(request, { count, concurrency: AT_ONCE });
    const after = cpuByKind(kinds);
    const of = (kind: string): number => (((after.get(kind) ?? 0) - (before.get(kind) ?? 0)) * 1e6) / count;
    const used = { process: of('api'), database: of('engine') + of('gateway') };
    const p50 = quantile(alone.latencies, 0.5) * 1_000;
    return { ...used, wait: Math.max(0, p50 - used.process - used.database) };
  };
  const page = await costOf(0, SHOWN_PAGE);
  const none = await costOf(0);
  const one = await costOf(1);
  const many = await costOf(MANY_PULLED);
  const parts = ['process', 'database', 'wait'] as const;
  const each = (part: (typeof parts)[number]): number =>
    Math.max(0, (many[part] - one[part]) / (MANY_PULLED - 1));
  const of = (value: (part: (typeof parts)[number]) => number): UnitWork =>
    rounded({ process: value('process'), database: value('database'), wait: value('wait') });
  return {
    page: of((part) => page[part]),
    pulled: { first: of((part) => Math.max(0, one[part] - none[part] - each(part))), each: of(each) },
  };
}

/** CPU of the API and of Redis for an event to a socket. */
async function ofEvents({ environment, options }: PartContext): Promise<UnitCosts['event']> {
  const sockets = sized(options, { full: 1_000, short: 500, smoke: 20 });
  const actions = sized(options, { full: 60, short: 20, smoke: 2 });
  await using closer = new Closer();
  const world = closer.own(await openFanOutWorld({ environment, database: `${DATABASE}_events` }));
  await world.follow(WATCHED, sockets);
  const client = closer.own(startChild<SocketsApi>({ program: 'bench/programs/sockets.ts' }));
  const tokens = await Promise.all(Array.from({ length: sockets }, (_, index) => tokenFor(readerId(index))));
  await client.call(
    'connect',
    tokens.map((token) => ({ url: world.api.wsUrl, token, query: WATCH })),
  );
  const publish = async (count: number): Promise<void> => {
    await client.call('forget', null);
    await Promise.all(Array.from({ length: count }, () => world.publish(WATCHED)));
    await client.call('received', count * sockets);
  };
  await publish(Math.ceil(actions / 4));
  const before = world.cpu();
  await publish(actions);
  const after = world.cpu();
  const of = (part: 'api' | 'redis'): number => ((after[part] - before[part]) * 1e6) / (actions * sockets);
  return rounded({ process: of('api'), redis: of('redis') });
}

function roundedWork({ amongMany, ...alone }: UnitWork): UnitWork {
  return { ...rounded(alone), ...(amongMany === undefined ? {} : { amongMany: rounded(amongMany) }) };
}

function rounded<T extends object>(values: T): T {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Number(Number(value).toPrecision(3))]),
  ) as T;
}

function report(costs: UnitCosts): PartReport {
  const work = (name: string, { process, database, wait }: UnitWork): (string | number)[] => [
    name,
    Math.round(process),
    Math.round(database),
    Math.round(wait),
  ];
  const among = (name: string, { amongMany }: UnitWork): (string | number)[][] =>
    amongMany === undefined ? [] : [work(name, { ...amongMany, wait: 0 })];
  return {
    title: 'Unit costs',
    shownIn: 'docs/scale.md',
    about: [
      'What one piece of each kind of work takes on this machine: CPU of the process that does it, CPU of the database, and what is left of the time. `fanfare plan` counts with them.',
      'A pass and publishing: an action of one follower, alone, and what each has to itself where many are under way at once. A delivery: a reader more, from actions of many followers. A page: the first 25 as frontends show it, 10 at a time. An event: to one of many sockets. An action that another worker takes: what an idle worker takes to hear of it.',
    ],
    figures: [],
    tables: [
      {
        columns: ['µs', 'process', 'database', 'wait'],
        rows: [
          work('publish', costs.publish),
          ...among('publish, one of many at once', costs.publish),
          work('pass', costs.pass),
          ...among('pass, one of many at once', costs.pass),
          work('action that another worker takes', { process: 0, database: 0, ...costs.wake, wait: 0 }),
          work('page', costs.page),
          work('page, the first pulled ref', costs.pulled.first),
          work('page, each pulled ref', costs.pulled.each),
        ],
      },
      {
        columns: ['a delivery, µs', 'worker', 'database', 'Redis', 'bytes'],
        rows: Object.entries(costs.models).map(([name, { delivery, bytes }]) => [
          ...[name, delivery.process, delivery.database, delivery.redis, bytes.database + bytes.redis],
        ]),
      },
    ],
    raw: { costs },
  };
}
