import { Closer } from '../../src/lib/closer.ts';
import type { ActionDocument } from '../../src/storage/documents/documents.ts';
import { startChild, type Child } from '../harness/child.ts';
import type { Environment } from '../harness/environment.ts';
import { startApi, startWorker, tokenFor, type FanfareApi } from '../harness/fanfare.ts';
import { openInProcess } from '../harness/in-process.ts';
import { LanePool } from '../harness/lane-pool.ts';
import { seededRandom } from '../harness/random.ts';
import { WATCH } from '../harness/watcher.ts';
import type { ProbeApi } from '../programs/probe.ts';
import type { SocketsApi } from '../programs/sockets.ts';
import { createLoadMix, type LoadMix, type LoadReader } from './load-mix.ts';
import { informPlanner, openRawWorld, type RawWorld } from './raw.ts';
import { loadTrace, publishTrace, readTrace, type Trace } from './trace.ts';

export interface LoadWorldSizes {
  /** Members of the trace at most. */
  readonly members: number;
  /** Readers besides the members of the trace; each follows one ref, by Zipf's numbers. */
  readonly readers: number;
  /** The newest actions of the trace, which are in the feeds before the load begins. */
  readonly actions: number;
  /** Readers who send requests. */
  readonly active: number;
  /** Of these, how many also watch. */
  readonly watching: number;
}

/** One API process, one worker, feeds that are full, and readers who are about to use them. */
export interface LoadWorld extends AsyncDisposable {
  readonly world: RawWorld;
  readonly api: FanfareApi;
  readonly worker: Child<ProbeApi>;
  readonly watchers: Child<SocketsApi>;
  readonly mix: LoadMix;
  /** For people: what was loaded. */
  readonly about: string;
  /** Actions whose fan-out is not done. */
  readonly openFanOuts: () => Promise<number>;
}

/** Lanes that are open at most; a request beyond waits, and its waiting counts. */
const MOST_LANES = 256;
const TEMPLATES = 50;
const SEED = 20_240_229;

export async function openLoadWorld(options: {
  readonly environment: Environment;
  readonly database: string;
  readonly sizes: LoadWorldSizes;
  readonly traceDir: string | null;
  readonly profileDir: string | null;
  readonly say: (line: string) => void;
}): Promise<LoadWorld> {
  const { environment, database, sizes, traceDir, profileDir, say } = options;
  const closer = new Closer();
  try {
    const random = seededRandom(SEED);
    const trace = firstMembers(await readTrace(traceDir, say), sizes.members);
    const world = closer.own(await openRawWorld(environment, database));
    const newest = trace.actions.slice(-sizes.actions);
    say(
      `${trace.name}; ${String(sizes.readers)} further readers; ${String(newest.length)} actions delivered`,
    );
    const everybody = await loadFeeds(environment, database, world, trace, {
      readers: sizes.readers,
      random,
      newest,
    });
    const rawWorld = closer.own(await openRawWorld(environment, `${database}_raw`));
    const documents = await templates(environment, rawWorld, newest);
    await informPlanner(world);
    const readers = await chooseReaders(everybody, sizes.active, random);
    const [items, follows] = [
      await world.items.estimatedDocumentCount(),
      await world.follows.estimatedDocumentCount(),
    ];
    const api = closer.own(await startApi({ environment, database, profileDir }));
    const worker = closer.own(await startWorker({ environment, database, profileDir }));
    const watchers = closer.own(startChild<SocketsApi>({ program: 'bench/programs/sockets.ts' }));
    await watchers.call(
      'connect',
      readers.slice(0, sizes.watching).map(({ token }) => ({ url: api.wsUrl, token, query: WATCH })),
    );
    const mix = await createLoadMix({
      url: api.url,
      pool: closer.own(new LanePool(api.url, MOST_LANES)),
      readers,
      watching: sizes.watching,
      actions: trace.actions,
      refIds: trace.refs.map(({ id }) => id),
      random,
      raw: { world: rawWorld, documents },
    });
    return {
      world,
      api,
      worker,
      watchers,
      mix,
      about: `Loaded: ${trace.name}; ${String(everybody.length)} readers with ${String(follows)} follows, of whom ${String(readers.length)} send requests and ${String(sizes.watching)} watch; ${String(items)} items of the ${String(newest.length)} newest actions.`,
      openFanOuts: () =>
        world.actions.countDocuments({
          'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS'] },
          'fanOut.leaseUntil': { $exists: true },
        }),
      [Symbol.asyncDispose]: () => closer.close(),
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}

/** The ids of all readers, whose feeds hold the newest actions of the trace. */
async function loadFeeds(
  environment: Environment,
  database: string,
  world: RawWorld,
  trace: Trace,
  { readers, random, newest }: { readers: number; random: () => number; newest: Trace['actions'] },
): Promise<readonly string[]> {
  await using fanfare = await openInProcess(environment, database, { worker: true });
  const everybody = await loadTrace(world, fanfare, trace, { readers, random });
  await publishTrace(fanfare, newest);
  return everybody;
}

/** Actions of the trace as the server writes them; nobody delivers them. */
async function templates(
  environment: Environment,
  world: RawWorld,
  actions: Trace['actions'],
): Promise<readonly ActionDocument[]> {
  await using fanfare = await openInProcess(environment, world.db.databaseName, { worker: false });
  for (const { conducted: _conducted, ...input } of actions.slice(-TEMPLATES)) await fanfare.publish(input);
  return await world.actions.find().toArray();
}

function firstMembers(trace: Trace, count: number): Trace {
  if (count >= trace.members.length) return trace;
  const members = trace.members.slice(0, count);
  const ids = new Set(members.map(({ memberId }) => memberId));
  return { ...trace, members, follows: trace.follows.filter(({ followerId }) => ids.has(followerId)) };
}

function chooseReaders(
  everybody: readonly string[],
  count: number,
  random: () => number,
): Promise<LoadReader[]> {
  const chosen = new Set<string>();
  while (chosen.size < Math.min(count, everybody.length))
    chosen.add(everybody[Math.floor(random() * everybody.length)] ?? '');
  return Promise.all([...chosen].map(async (userId) => ({ userId, token: await tokenFor(userId) })));
}
