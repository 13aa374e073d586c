import type { Closer } from '../../src/lib/closer.ts';
import { startApi, startWorker, tokenFor } from '../harness/fanfare.ts';
import { LanePool } from '../harness/http-lanes.ts';
import type { PartContext } from '../harness/part.ts';
import { openInProcess, type InProcess } from '../harness/in-process.ts';
import { seededRandom } from '../harness/random.ts';
import { WATCH } from '../harness/watcher.ts';
import { createLoadMix, type LoadReader } from './load-mix.ts';
import { openSockets } from './pushing.ts';
import { informPlanner, openRawWorld } from './raw.ts';
import { readTrace } from '../../parts/demo/src/trace.ts';
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

export type LoadWorld = Awaited<ReturnType<typeof openLoadWorld>>;

/** Lanes that are open at most; a request beyond waits, and its waiting counts. */
const MOST_LANES = 256;
const TEMPLATES = 50;
const SEED = 20_240_229;

/** One API process, one worker, feeds that are full, and readers who are about to use them. */
export async function openLoadWorld(
  { environment, say }: PartContext,
  closer: Closer,
  sizes: LoadWorldSizes,
) {
  const database = 'bench_load';
  const random = seededRandom(SEED);
  const trace = await readTrace();
  const world = closer.own(await openRawWorld(environment, database));
  const newest = trace.actions.slice(-sizes.actions);
  say(
    `${String(trace.actions.length)} actions; ${String(sizes.readers)} further readers; ${String(newest.length)} actions delivered`,
  );
  async function inProcess<T>(worker: boolean, name: string, work: (fanfare: InProcess) => Promise<T>) {
    await using fanfare = await openInProcess(environment, name, { worker });
    return await work(fanfare);
  }
  const everybody = await inProcess(true, database, async (fanfare) => {
    const all = await loadTrace(world, fanfare, trace, { readers: sizes.readers, random });
    await publishTrace(fanfare, newest);
    return all;
  });
  const rawWorld = closer.own(await openRawWorld(environment, `${database}_raw`));
  // Actions as the server writes them, which nobody delivers.
  const documents = await inProcess(false, rawWorld.db.databaseName, async (fanfare) => {
    for (const { conducted: _conducted, ...input } of newest.slice(-TEMPLATES)) await fanfare.publish(input);
    return await rawWorld.actions.find().toArray();
  });
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
    ...{ world, api, worker, watchers, mix },
    /** For people: what was loaded. */
    about: `Loaded: the sample trace, ${String(trace.actions.length)} actions; ${String(everybody.length)} readers with ${String(follows)} follows, of whom ${String(readers.length)} send requests and ${String(sizes.watching)} watch; ${String(items)} items of the ${String(newest.length)} newest actions.`,
  };
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
