import { Closer } from '../../src/lib/closer.ts';
import { startChild, type Child } from '../harness/child.ts';
import { startApi, startWorker, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, Lane, readAnswer } from '../harness/http-lanes.ts';
import { WATCH } from '../harness/watcher.ts';
import { cpuByKind } from '../harness/process-usage.ts';
import { now, timed } from '../harness/statistics.ts';
import type { PartReport } from '../harness/report.ts';
import type { ProbeApi } from '../programs/probe.ts';
import type { PushClientApi } from '../programs/push-client.ts';
import { ratingInput } from '../world/actions.ts';
import { insertItems, newItems } from '../world/items.ts';
import { loadFollowers, readerId } from '../world/people.ts';
import { PUBLISH_MANY } from '../world/queries.ts';
import { openRawWorld } from '../world/raw.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';
import { openUsual } from './push-usual.ts';
import {
  BARE,
  FANFARE,
  LEAST,
  measurePush,
  pushReport,
  type Pushing,
  type PushFigures,
} from './push-measure.ts';

const DATABASE = 'bench_push';
const REF = 'site-watched';
/** Of more, each event would be a message of its own to a publisher that has nothing else to do for minutes. */
const MOST_USUAL = 1_000;
const CHANNEL = 'bench:broadcast';
const LEAST_CHANNEL = 'bench:least';

/** An action that everybody connected watches for, beside a bare broadcast of the same bytes. */
export const pushPart: Part = { name: 'push', run };

async function run(context: PartContext): Promise<PartReport> {
  const { options, say } = context;
  const sizes = sized(options, { full: [100, 1_000, 5_000], short: [100, 1_000], smoke: [20] });
  const figures: PushFigures[] = [];
  for (const subscribers of sizes) {
    say(`${String(subscribers)} subscribers`);
    figures.push(await withSubscribers(context, subscribers));
  }
  return pushReport(figures);
}

async function withSubscribers(context: PartContext, subscribers: number): Promise<PushFigures> {
  const { options } = context;
  await using closer = new Closer();
  const fanfare = await openFanfare(context, closer, subscribers);
  const sample = await fanfare.sample();
  const bare = await openBare(context, closer, subscribers, sample);
  const least = await openLeast(context, closer, subscribers, sample);
  const usual = subscribers <= MOST_USUAL ? await openUsual(context, closer, { subscribers, sample }) : [];
  const events = sized(options, { full: 20_000, short: 4_000, smoke: 100 });
  return await measurePush({
    subscribers,
    contenders: [fanfare, bare, least, ...usual],
    storeItems: await openRaw(context, closer, subscribers),
    rounds: roundsOf(options, { full: 5, short: 2, smoke: 1 }),
    single: sized(options, { full: 20, short: 10, smoke: 2 }),
    // So many actions that it takes seconds, and no more than a watcher may be behind.
    burst: Math.min(200, Math.max(2, Math.round(events / subscribers))),
  });
}

interface OpenFanfare extends Pushing {
  /** Text of one event. */
  sample(): Promise<string>;
}

async function openFanfare(context: PartContext, closer: Closer, subscribers: number): Promise<OpenFanfare> {
  const { environment, profileDir } = context;
  const database = `${DATABASE}_${String(subscribers)}`;
  const world = closer.own(await openRawWorld(environment, database));
  await loadFollowers(world.follows, REF, subscribers);
  const api = closer.own(await startApi({ environment, database, profileDir }));
  const worker = closer.own(await startWorker({ environment, database, profileDir }));
  const tokens = await Promise.all(
    Array.from({ length: subscribers }, (_, index) => tokenFor(readerId(index))),
  );
  const client = await openClient(
    closer,
    tokens.map((token) => ({ url: api.wsUrl, token, query: WATCH })),
  );
  const token = await tokenFor('publisher', ['service']);
  const lane = closer.own(await Lane.open({ host: '127.0.0.1', port: Number(new URL(api.url).port) }));
  let published = 0;
  const publish = async (count: number): Promise<number> => {
    const inputs = Array.from({ length: count }, () => ratingInput(published++, [{ id: REF }]));
    const request = graphqlRequest(api.url, token, PUBLISH_MANY, { inputs });
    const at = now();
    const { body } = readAnswer(await lane.send(request));
    if (body.split('"id"').length - 1 !== count) throw new Error(`Not published: ${body.slice(0, 500)}`);
    return at;
  };
  const kinds = new Map([
    [process.pid, 'benchmark'],
    [api.pid, 'api'],
    [worker.pid, 'worker'],
    [client.pid, 'sockets'],
  ]);
  return {
    name: FANFARE,
    client,
    publish,
    cpu: () => cpuByKind(kinds),
    sample: async () => {
      await client.call('forget', null);
      await publish(1);
      await client.call('received', subscribers);
      const text = await client.call('latest', null);
      if (text === null) throw new Error('No event came');
      return text;
    },
  };
}

/** Stores the items of so many actions with the plain driver alone; resolves to items/s. */
async function openRaw(
  { environment }: PartContext,
  closer: Closer,
  subscribers: number,
): Promise<(actions: number) => Promise<number>> {
  const database = `${DATABASE}_raw_${String(subscribers)}`;
  const world = closer.own(await openRawWorld(environment, database));
  return async (actions) => {
    const documents = Array.from({ length: actions }, () => newItems(subscribers)).flat();
    const milliseconds = await timed(() => insertItems(world.items, documents));
    return documents.length / (milliseconds / 1_000);
  };
}

async function openBare(
  { environment }: PartContext,
  closer: Closer,
  subscribers: number,
  sample: string,
): Promise<Pushing> {
  const server = closer.own(
    startChild<ProbeApi>({ program: 'bench/programs/bare-push.ts', args: [environment.redisUrl, CHANNEL] }),
  );
  const [, url = ''] = await server.line(/Sockets (ws:\/\/\S+)/);
  const one = { url, token: null, query: '' };
  const client = await openClient(
    closer,
    Array.from({ length: subscribers }, () => one),
  );
  const [, id = ''] = /"action":\{"id":"([^"]+)"/.exec(sample) ?? [];
  let published = 0;
  return {
    name: BARE,
    client,
    publish: async (count) => {
      const at = now();
      const pipeline = environment.redis.pipeline();
      for (let index = 0; index < count; index++)
        pipeline.publish(CHANNEL, sample.replace(id, String(published++).padStart(id.length, '0')));
      await pipeline.exec();
      return at;
    },
  };
}

/**
 * For each action: stores the items with the plain driver, publishes one message, and every socket is sent a string of the
 * same length with a part of its own.
 */
async function openLeast(
  { environment }: PartContext,
  closer: Closer,
  subscribers: number,
  sample: string,
): Promise<Pushing> {
  const world = closer.own(await openRawWorld(environment, `${DATABASE}_least_${String(subscribers)}`));
  const [, cursor = ''] = /"cursor":"([^"]+)"/.exec(sample) ?? [];
  const [, id = ''] = /"action":\{"id":"([^"]+)"/.exec(sample) ?? [];
  if (cursor === '' || id === '') throw new Error(`An event without a cursor or an action: ${sample}`);
  const server = closer.own(
    startChild<ProbeApi>({
      program: 'bench/programs/least-push.ts',
      args: [environment.redisUrl, LEAST_CHANNEL, cursor],
    }),
  );
  const [, url = ''] = await server.line(/Sockets (ws:\/\/\S+)/);
  const one = { url, token: null, query: '' };
  const client = await openClient(
    closer,
    Array.from({ length: subscribers }, () => one),
  );
  let published = 0;
  const deliver = async (): Promise<void> => {
    const text = sample.replace(id, String(published++).padStart(id.length, '0'));
    await insertItems(world.items, newItems(subscribers));
    await environment.redis.publish(LEAST_CHANNEL, text);
  };
  const kinds = new Map([
    [process.pid, 'benchmark'],
    [server.pid, 'server'],
    [client.pid, 'sockets'],
  ]);
  return {
    name: LEAST,
    client,
    publish: async (count) => {
      const at = now();
      await Promise.all(Array.from({ length: count }, deliver));
      return at;
    },
    cpu: () => cpuByKind(kinds),
  };
}

async function openClient(
  closer: Closer,
  subscribers: Parameters<PushClientApi['connect']>[0],
): Promise<Child<PushClientApi>> {
  const client = closer.own(startChild<PushClientApi>({ program: 'bench/programs/push-client.ts' }));
  await client.call('connect', subscribers);
  return client;
}
