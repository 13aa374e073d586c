import type { Closer } from '../../src/lib/closer.ts';
import { ownDatabase } from '../harness/environment.ts';
import { startChild, type Child } from '../harness/child.ts';
import { startApi, startWorker, tokenFor, type FanfareApi } from '../harness/fanfare.ts';
import { graphqlRequest, LanePool } from '../harness/http-lanes.ts';
import type { PartContext } from '../harness/part.ts';
import { cpuByKind } from '../harness/process-usage.ts';
import { now } from '../harness/statistics.ts';
import { actionOf, SHOWN_ACTION, WATCH } from '../harness/watcher.ts';
import type { ProbeApi } from '../programs/probe.ts';
import type { SocketsApi, Subscriber } from '../programs/sockets.ts';
import type { RoomsApi } from '../usual/socket-io.ts';
import { ratingInput } from './actions.ts';
import { insertItems, newItems } from './items.ts';
import { readerId } from './people.ts';
import { FOLLOW_MANY, PUBLISH, PUBLISH_MANY, SHOWN_PAGE } from './queries.ts';
import { openRawWorld } from './raw.ts';

/** Something that pushes what is published to all its subscribers. */
export interface Pushing {
  readonly name: string;
  readonly client: Child<SocketsApi>;
  /** Publishes so many events at once; when it began to. */
  readonly publish: (count: number) => Promise<number>;
  /** Seconds of CPU so far by kind of process, where that is to be known. */
  readonly cpu?: () => ReadonlyMap<string, number>;
}

export const FANFARE = 'Fanfare';
/** `fanfare serve`, as most start it. */
export const ONE_PROCESS = 'Fanfare, API and worker in one process';
/** A server that stores what it pushes to each reader can do no less. */
export const LEAST = 'raw insert + one message + a string for each socket';
/** As live events are usually pushed: neither stores nor decides. */
export const USUAL = {
  graphql: 'graphql-redis-subscriptions, a channel for each reader',
  rooms: 'socket.io with its Redis adapter, a room for each reader',
} as const;
/** What pushes, where it is not Fanfare. */
export const SERVER = 'server';

/** What is published is about this. */
export const WATCHED_REF = 'site-watched';
const FOLLOWS_AT_ONCE = 1_000;
const ACTIONS_AT_ONCE = 20;
/** Connections beside those of the subscribers. */
const OTHER_CONNECTIONS = 100;

export interface FanfareOptions {
  readonly database: string;
  /** A built checkout to run, in place of this one. */
  readonly checkout?: string;
  /** Readers who follow what is published. */
  readonly followers: number;
  /** So many of them, the last, watch. */
  readonly watching: number;
  /** The API has the worker in its process. */
  readonly isOneProcess?: boolean;
  /** Of others, which the API is to have room for. Default: none. */
  readonly connections?: number;
  /** What is published is for everybody, not for followers alone. */
  readonly isPublic?: boolean;
}

export interface PushingFanfare extends Pushing {
  readonly api: FanfareApi;
  readonly cpu: () => ReadonlyMap<string, number>;
  /** Text of one event. */
  sample(): Promise<string>;
  /** Publishes one action; its id. */
  readonly publishOne: () => Promise<string>;
  /** Asks for a page of each watcher in turn. */
  readonly readPage: () => Promise<unknown>;
}

/** An API, a worker, in a process of its own as a rule, and the sockets of readers, filled through its own API: a release may store things in another way. */
export async function openFanfare(
  { environment }: PartContext,
  closer: Closer,
  {
    database,
    checkout,
    followers,
    watching,
    isOneProcess = false,
    connections = 0,
    isPublic = false,
  }: FanfareOptions,
): Promise<PushingFanfare> {
  const env = { MAX_CONNECTIONS: String(watching + connections + OTHER_CONNECTIONS) };
  const of = { environment, database, checkout };
  ownDatabase(environment, closer, database);
  const api = closer.own(await startApi({ ...of, env }, isOneProcess));
  const worker = isOneProcess ? api : closer.own(await startWorker(of));
  const pool = closer.own(new LanePool(api.url, OTHER_CONNECTIONS));
  const token = await tokenFor('publisher', ['service']);
  const ask = (query: string, variables: Readonly<Record<string, unknown>>): Promise<string> =>
    pool.ask(graphqlRequest(api.url, token, query, variables));
  const readers = Array.from({ length: followers }, (_, index) => readerId(index));
  for (let from = 0; from < followers; from += FOLLOWS_AT_ONCE) {
    const some = readers.slice(from, from + FOLLOWS_AT_ONCE);
    await ask(FOLLOW_MANY, { pairs: some.map((followerId) => ({ followerId, refId: WATCHED_REF })) });
  }
  const tokens = await Promise.all(readers.slice(-watching).map((reader) => tokenFor(reader)));
  const client = await openSockets(
    closer,
    tokens.map((own) => ({ url: api.wsUrl, token: own, query: WATCH })),
  );
  let published = 0;
  const more = isPublic ? { scope: 'PUBLIC' as const } : {};
  const publish = async (count: number): Promise<number> => {
    const inputs = Array.from({ length: count }, () => ratingInput(published++, [{ id: WATCHED_REF }], more));
    const at = now();
    // Of more in one call nobody waits for the delivery.
    const calls = Array.from({ length: Math.ceil(count / ACTIONS_AT_ONCE) }, (_, call) =>
      ask(PUBLISH_MANY, { inputs: inputs.slice(call * ACTIONS_AT_ONCE, (call + 1) * ACTIONS_AT_ONCE) }),
    );
    await Promise.all(calls);
    return at;
  };
  const publishOne = async (): Promise<string> => {
    const body = await ask(PUBLISH, { input: ratingInput(published++, [{ id: WATCHED_REF }], more) });
    return /"id":"([^"]+)"/.exec(body)?.[1] ?? '';
  };
  const pages = tokens.map((own) => graphqlRequest(api.url, own, SHOWN_PAGE, { first: 25 }));
  let asked = 0;
  const readPage = async (): Promise<unknown> => {
    const page = pages[asked++ % pages.length];
    return page === undefined ? null : pool.ask(page);
  };
  const kinds = new Map([
    [process.pid, 'benchmark'],
    [worker.pid, 'worker'],
    [api.pid, isOneProcess ? 'api and worker' : 'api'],
    [client.pid, 'sockets'],
  ]);
  return {
    ...{ name: isOneProcess ? ONE_PROCESS : FANFARE, api, client, publish, publishOne, readPage },
    cpu: () => cpuByKind(kinds),
    sample: async () => {
      await client.call('forget', null);
      await publish(1);
      await client.call('received', watching);
      const text = await client.call('latest', null);
      if (text === null) throw new Error('No event came');
      return text;
    },
  };
}

/** What the others push is what Fanfare has pushed. */
export interface Like {
  readonly subscribers: number;
  /** Text of an event as Fanfare sends it. */
  readonly sample: string;
}

/**
 * For each action: stores the items with the plain driver, publishes one message, and every socket is sent a string of the
 * same length with a part of its own.
 */
export async function openLeast({ environment }: PartContext, closer: Closer, like: Like): Promise<Pushing> {
  const { subscribers, sample } = like;
  const { redis, redisUrl } = environment;
  const channel = 'bench:least';
  const world = closer.own(await openRawWorld(environment, `bench_push_least_${String(subscribers)}`));
  const [, cursor = ''] = /"cursor":"([^"]+)"/.exec(sample) ?? [];
  if (cursor === '') throw new Error(`An event without a cursor: ${sample}`);
  const { client, cpu } = await openServer(
    closer,
    'programs/bare-push.ts',
    [redisUrl, channel, cursor],
    like,
  );
  const events = numbered(sample);
  return {
    ...{ name: LEAST, client, cpu },
    publish: async (count) => {
      const at = now();
      await Promise.all(
        events(count).map(async (text) => {
          await insertItems(world.items, newItems(subscribers));
          await redis.publish(channel, text);
        }),
      );
      return at;
    },
  };
}

/** The same fields, as such a server has them. */
const USUAL_QUERY = `subscription Watch {
  feedEvents { item { action { ${SHOWN_ACTION} } id relevancy reasons isUnread } cursor }
}`;

/** A server as it is usually written by GraphQL: a channel of Redis for each reader. */
export async function openGraphql(
  { environment }: PartContext,
  closer: Closer,
  like: Like,
): Promise<Pushing> {
  const { redis, redisUrl } = environment;
  const prefix = 'bench:reader:';
  const of = { query: USUAL_QUERY, path: '/graphql' };
  const { client, cpu } = await openServer(closer, 'usual/graphql.ts', [redisUrl, prefix], like, of);
  const events = numbered(payloadOf(like.sample));
  return {
    ...{ name: USUAL.graphql, client, cpu },
    publish: async (count) => {
      const at = now();
      for (const text of events(count)) {
        const pipeline = redis.pipeline();
        for (let reader = 0; reader < like.subscribers; reader += 1)
          pipeline.publish(`${prefix}${readerId(reader)}`, text);
        await pipeline.exec();
      }
      return at;
    },
  };
}

/** A server as it is usually written by socket.io: a room for each reader. */
export async function openRooms({ environment }: PartContext, closer: Closer, like: Like): Promise<Pushing> {
  const program = 'bench/usual/socket-io.ts';
  // What publishes is another process, as a worker is: the adapter brings it over.
  const emitter = closer.own(startChild<RoomsApi>({ program, args: [environment.redisUrl, 'emitter'] }));
  await emitter.line(/Emitter ready/);
  const of = { protocol: 'socket.io' as const, kinds: [[emitter.pid, 'publisher']] as const };
  const { client, cpu } = await openServer(closer, 'usual/socket-io.ts', [environment.redisUrl], like, of);
  const events = numbered(payloadOf(like.sample));
  const readers = Array.from({ length: like.subscribers }, (_, index) => readerId(index));
  return {
    ...{ name: USUAL.rooms, client, cpu },
    publish: async (count) => {
      const at = now();
      await emitter.call('emit', { readers, texts: events(count) });
      return at;
    },
  };
}

/** A server of `bench/` with sockets of as many readers. */
async function openServer(
  closer: Closer,
  program: string,
  args: readonly string[],
  { subscribers }: Like,
  {
    query = '',
    path = '',
    kinds = [],
    ...of
  }: {
    readonly query?: string;
    readonly path?: string;
    readonly kinds?: readonly (readonly [number, string])[];
    readonly protocol?: 'socket.io';
  } = {},
): Promise<{ readonly client: Child<SocketsApi>; readonly cpu: () => ReadonlyMap<string, number> }> {
  const server = closer.own(startChild<ProbeApi>({ program: `bench/${program}`, args }));
  const [, url = ''] = await server.line(/Sockets (ws:\/\/\S+)/);
  const client = await openSockets(
    closer,
    Array.from({ length: subscribers }, (_, index) => ({
      ...{ url: url + path, query, token: readerId(index), ...of },
    })),
  );
  const all = new Map([
    ...([
      [process.pid, 'benchmark'],
      [server.pid, SERVER],
      [client.pid, 'sockets'],
    ] as const),
    ...kinds,
  ]);
  return { client, cpu: () => cpuByKind(all) };
}

export async function openSockets(
  closer: Closer,
  subscribers: readonly Subscriber[],
): Promise<Child<SocketsApi>> {
  const client = closer.own(startChild<SocketsApi>({ program: 'bench/programs/sockets.ts' }));
  await client.call('connect', subscribers);
  return client;
}

/** So many events of actions that differ, as texts of the same length. */
function numbered(text: string): (count: number) => readonly string[] {
  const action = actionOf(text);
  if (action === null) throw new Error(`An event without an action: ${text}`);
  let made = 0;
  return (count) =>
    Array.from({ length: count }, () => text.replace(action, String(made++).padStart(action.length, '0')));
}

function payloadOf(sample: string): string {
  const { payload } = JSON.parse(sample) as { payload: { data: { feedEvents: unknown } } };
  return JSON.stringify(payload.data.feedEvents);
}
