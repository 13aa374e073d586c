import type { Closer } from '../../src/lib/closer.ts';
import type { Child } from '../harness/child.ts';
import type { Environment } from '../harness/environment.ts';
import { startApi, startWorker, tokenFor, type FanfareApi } from '../harness/fanfare.ts';
import type { PartContext } from '../harness/part.ts';
import { openInProcess, type InProcess } from '../harness/in-process.ts';
import { LanePool } from '../harness/lane-pool.ts';
import { seededRandom } from '../harness/random.ts';
import { WATCH } from '../harness/watcher.ts';
import type { ProbeApi } from '../programs/probe.ts';
import type { SocketsApi } from '../programs/sockets.ts';
import { createLoadMix, type LoadMix, type LoadReader } from './load-mix.ts';
import { openSockets } from './pushing.ts';
import { informPlanner, openRawWorld, type RawWorld } from './raw.ts';
import { readTrace } from '../../packages/demo/src/trace.ts';
import { loadTrace, publishTrace } from './trace.ts';

export interface LoadWorldSizes {
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
export interface LoadWorld {
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

export async function openLoadWorld(
  { environment, say }: PartContext,
  closer: Closer,
  sizes: LoadWorldSizes,
): Promise<LoadWorld> {
  const database = 'bench_load';
  const random = seededRandom(SEED);
  const trace = await readTrace();
  const world = closer.own(await openRawWorld(environment, database));
  const newest = trace.actions.slice(-sizes.actions);
  say(
    `${String(trace.actions.length)} actions; ${String(sizes.readers)} further readers; ${String(newest.length)} actions delivered`,
  );
  const everybody = await fill(environment, database, async (fanfare) => {
    const all = await loadTrace(world, fanfare, trace, { readers: sizes.readers, random });
    await publishTrace(fanfare, newest);
    return all;
  });
  const rawWorld = closer.own(await openRawWorld(environment, `${database}_raw`));
  // Actions as the server writes them, which nobody delivers.
  const documents = await fill(
    environment,
    rawWorld.db.databaseName,
    async (fanfare) => {
      for (const { conducted: _conducted, ...input } of newest.slice(-TEMPLATES))
        await fanfare.publish(input);
      return await rawWorld.actions.find().toArray();
    },
    false,
  );
  await informPlanner(world);
  const readers = await chooseReaders(everybody, sizes.active, random);
  const [items, follows] = [
    await world.items.estimatedDocumentCount(),
    await world.follows.estimatedDocumentCount(),
  ];
  const api = closer.own(await startApi({ environment, database }));
  const worker = closer.own(await startWorker({ environment, database }));
  const watchers = await openSockets(
    closer,
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
    about: `Loaded: the sample trace, ${String(trace.actions.length)} actions; ${String(everybody.length)} readers with ${String(follows)} follows, of whom ${String(readers.length)} send requests and ${String(sizes.watching)} watch; ${String(items)} items of the ${String(newest.length)} newest actions.`,
    openFanOuts: () =>
      world.actions.countDocuments({
        'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS'] },
        'fanOut.leaseUntil': { $exists: true },
      }),
  };
}

async function fill<T>(
  environment: Environment,
  database: string,
  work: (fanfare: InProcess) => Promise<T>,
  worker = true,
): Promise<T> {
  await using fanfare = await openInProcess(environment, database, { worker });
  return await work(fanfare);
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
