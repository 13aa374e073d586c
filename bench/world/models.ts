import { ObjectId } from 'mongodb';
import type { FeedStore } from '../../src/feeds/feed-store.ts';
import { createFeedStore } from '../../src/packages/feed-models.ts';
import { Closer } from '../../src/lib/closer.ts';
import type { PublishActionInput } from '../../src/services/shapes.ts';
import type { Environment } from '../harness/environment.ts';
import { openInProcess, type InProcess } from '../harness/in-process.ts';
import type { ModelsLoad } from './models-load.ts';
import { load, openRawWorld, type RawWorld } from './raw.ts';

/** One feed model with a database, a worker and a piece of Redis of its own, and the people of the trace in it. */
export interface ModelWorld extends AsyncDisposable {
  readonly model: string;
  readonly world: RawWorld;
  readonly fanfare: InProcess;
  /** For looking at what is stored; the app has one of its own. */
  readonly store: FeedStore;
  /** What the keys of its feeds in Redis begin with. */
  readonly redisKeys: string;
}

const SCAN_COUNT = 1_000;
const PUBLISH_AT_ONCE = 500;
const MEMBERS_AT_ONCE = 1_000;

export async function openModelWorld(
  environment: Environment,
  model: string,
  modelsLoad: ModelsLoad,
): Promise<ModelWorld> {
  const database = `bench_models_${model}`;
  const closer = new Closer();
  try {
    const world = closer.own(await openRawWorld(environment, database));
    // Closed after the worker, which may write until then.
    closer.own({ [Symbol.asyncDispose]: () => forgetKeys(environment, `fanfare:${database}:`) });
    const { people, follows, cap, env } = modelsLoad;
    const fanfare = closer.own(
      await openInProcess(environment, database, {
        worker: true,
        env: { ...env, FEED_MODEL: model },
      }),
    );
    for (let from = 0; from < people.length; from += MEMBERS_AT_ONCE)
      await fanfare.app.services.upsertMembers(fanfare.service, people.slice(from, from + MEMBERS_AT_ONCE));
    await fanfare.app.idle();
    // After the people: members who are new and follow something would have their feeds rebuilt.
    const since = new Date(Date.now() - 86_400_000);
    await load(world.follows, follows.length, (index) => {
      const follow = follows[index];
      if (follow === undefined) throw new Error('There are fewer follows than were counted');
      const { followerId, refId } = follow;
      return { _id: new ObjectId(), followerId, refId, active: true, spans: [{ since }] };
    });
    const prefix = `fanfare:${database}:`;
    const { db } = fanfare.app.database;
    const redis = [{ commands: environment.redis, prefix, isSharded: false }];
    const store = createFeedStore(model, { db, cap, redis });
    return {
      model,
      world,
      fanfare,
      store,
      redisKeys: `${prefix}feed:`,
      [Symbol.asyncDispose]: () => closer.close(),
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}

/** Publishes them all and waits until they are in the feeds. How many entries were delivered. */
export async function publishAll(fanfare: InProcess, inputs: readonly PublishActionInput[]): Promise<number> {
  let delivered = 0;
  for (let from = 0; from < inputs.length; from += PUBLISH_AT_ONCE) {
    const outcomes = await fanfare.app.services.publishActions(
      fanfare.service,
      inputs.slice(from, from + PUBLISH_AT_ONCE),
    );
    const ids = outcomes.map((outcome) => {
      if (outcome.error !== null) throw new Error(`Not published: ${outcome.error.message}`);
      return outcome.action.id;
    });
    for (const result of await Promise.all(ids.map((id) => fanfare.done(id)))) delivered += result.delivered;
  }
  return delivered;
}

/** Names of all keys that begin so, each once. */
export async function keysBeginning({ redis }: Environment, prefix: string): Promise<readonly string[]> {
  const keys = new Set<string>();
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', SCAN_COUNT);
    for (const key of found) keys.add(key);
    cursor = next;
  } while (cursor !== '0');
  return [...keys];
}

async function forgetKeys(environment: Environment, prefix: string): Promise<void> {
  const keys = await keysBeginning(environment, prefix);
  for (let from = 0; from < keys.length; from += SCAN_COUNT)
    await environment.redis.unlink(...keys.slice(from, from + SCAN_COUNT));
}
