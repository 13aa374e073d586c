import type { Closer } from '../../src/lib/closer.ts';
import { startChild } from '../harness/child.ts';
import { startApi, startWorker, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest } from '../harness/http-lanes.ts';
import { LanePool } from '../harness/lane-pool.ts';
import type { Contender } from '../harness/rounds.ts';
import { now } from '../harness/statistics.ts';
import { WATCH } from '../harness/watcher.ts';
import type { PushClientApi } from '../programs/push-client.ts';
import { ratingInput } from '../world/actions.ts';
import { readerId } from '../world/people.ts';
import { PUBLISH_MANY } from '../world/queries.ts';
import { sized, type PartContext } from './part.ts';

const REF = 'site-watched';
const FOLLOW_MANY = 'mutation FollowMany($pairs: [FollowInput!]!) { followMany(pairs: $pairs) }';

export interface EventsSide {
  readonly name: string;
  readonly checkout?: string;
  /** Takes the API's CPU of an event in each round, in milliseconds. */
  readonly cpu: Map<string, number[]>;
}

/** Events/s to many sockets of one build: API, worker and sockets of its own, filled through its own API. */
export async function eventsContender(
  { environment, options, profileDir }: PartContext,
  closer: Closer,
  { name, checkout, cpu }: EventsSide,
): Promise<Contender> {
  const subscribers = sized(options, { full: 1_000, short: 1_000, smoke: 20 });
  // Of more in one call nobody waits for the delivery.
  const burst = sized(options, { full: 20, short: 20, smoke: 2 });
  const of = { environment, database: `bench_against_events_${name}`, profileDir, checkout };
  closer.own({
    [Symbol.asyncDispose]: async () => {
      await environment.driver.db(of.database).dropDatabase();
    },
  });
  const api = closer.own(await startApi(of));
  closer.own(await startWorker(of));
  const pool = closer.own(new LanePool(api.url, 1));
  const token = await tokenFor('publisher', ['service']);
  const ask = (query: string, variables: Readonly<Record<string, unknown>>): Promise<string> =>
    pool.ask(graphqlRequest(api.url, token, query, variables));
  const readers = Array.from({ length: subscribers }, (_, index) => readerId(index));
  await ask(FOLLOW_MANY, { pairs: readers.map((followerId) => ({ followerId, refId: REF })) });
  const client = closer.own(startChild<PushClientApi>({ program: 'bench/programs/push-client.ts' }));
  const tokens = await Promise.all(readers.map((reader) => tokenFor(reader)));
  await client.call(
    'connect',
    tokens.map((own) => ({ url: api.wsUrl, token: own, query: WATCH })),
  );
  let published = 0;
  return {
    name: `events/s to ${String(subscribers)} sockets, ${name}`,
    measure: async (round) => {
      await client.call('forget', null);
      const inputs = Array.from({ length: burst }, () => ratingInput(published++, [{ id: REF }]));
      const cpuBefore = await api.call('cpu', null);
      const from = now();
      await ask(PUBLISH_MANY, { inputs });
      await client.call('received', burst * subscribers);
      const receipts = await client.call('receipts', null);
      const used = ((await api.call('cpu', null)) - cpuBefore) / 1_000 / (burst * subscribers);
      const key = `CPU of the API an event, ${name}`;
      if (round >= 0) cpu.set(key, [...(cpu.get(key) ?? []), used]);
      const last = Math.max(...receipts.map(({ at }) => Math.max(...at)));
      return (burst * subscribers) / ((last - from) / 1_000);
    },
  };
}
