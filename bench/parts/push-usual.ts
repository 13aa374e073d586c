import type { Closer } from '../../src/lib/closer.ts';
import { startChild } from '../harness/child.ts';
import { cpuByKind } from '../harness/process-usage.ts';
import { now } from '../harness/statistics.ts';
import { actionOf } from '../harness/watcher.ts';
import type { ProbeApi } from '../programs/probe.ts';
import type { PushClientApi, Subscriber } from '../programs/push-client.ts';
import type { RoomsApi } from '../usual/socket-io.ts';
import { readerId } from '../world/people.ts';
import type { PartContext } from './part.ts';
import { SERVER, USUAL, type Pushing } from './push-measure.ts';

/** The same fields, as such a server has them. */
const QUERY = `subscription Watch {
  feedEvents {
    item {
      action {
        id conducted scope
        actor { memberId name }
        refs { refId type label }
        descriptor { type summary tags }
        engagement { comments likes reshares lastInteraction }
      }
      id relevancy reasons isUnread
    }
    cursor
  }
}`;
const CHANNEL = 'bench:reader:';

interface UsualOptions {
  readonly subscribers: number;
  /** Text of an event as Fanfare sends it. */
  readonly sample: string;
}

/** Servers as they are usually written, each with the same subscribers, and something that publishes to each of them. */
export async function openUsual(
  context: PartContext,
  closer: Closer,
  options: UsualOptions,
): Promise<readonly Pushing[]> {
  return [await openGraphql(context, closer, options), await openRooms(context, closer, options)];
}

async function openGraphql(
  { environment }: PartContext,
  closer: Closer,
  { subscribers, sample }: UsualOptions,
): Promise<Pushing> {
  const { redisUrl, redis } = environment;
  const server = closer.own(
    startChild<ProbeApi>({ program: 'bench/usual/graphql.ts', args: [redisUrl, CHANNEL] }),
  );
  const [, url = ''] = await server.line(/Sockets (ws:\/\/\S+)/);
  const client = await openClient(closer, subscribers, { url: `${url}/graphql`, query: QUERY });
  const events = eventsLike(sample);
  return {
    name: USUAL.graphql,
    client,
    publish: async (count) => {
      const at = now();
      for (const text of events(count)) {
        const pipeline = redis.pipeline();
        for (let reader = 0; reader < subscribers; reader += 1)
          pipeline.publish(`${CHANNEL}${readerId(reader)}`, text);
        await pipeline.exec();
      }
      return at;
    },
    cpu: cpuOf({ server: server.pid, client: client.pid }),
  };
}

async function openRooms(
  { environment }: PartContext,
  closer: Closer,
  { subscribers, sample }: UsualOptions,
): Promise<Pushing> {
  const program = 'bench/usual/socket-io.ts';
  const server = closer.own(startChild<ProbeApi>({ program, args: [environment.redisUrl] }));
  const [, url = ''] = await server.line(/Sockets (ws:\/\/\S+)/);
  // What publishes is another process, as a worker is: the adapter brings it over.
  const emitter = closer.own(startChild<RoomsApi>({ program, args: [environment.redisUrl, 'emitter'] }));
  await emitter.line(/Emitter ready/);
  const client = await openClient(closer, subscribers, { url, query: '', protocol: 'socket.io' });
  const events = eventsLike(sample);
  const readers = Array.from({ length: subscribers }, (_, index) => readerId(index));
  return {
    name: USUAL.rooms,
    client,
    publish: async (count) => {
      const at = now();
      await emitter.call('emit', { readers, texts: events(count) });
      return at;
    },
    cpu: cpuOf({ server: server.pid, client: client.pid, emitter: emitter.pid }),
  };
}

async function openClient(closer: Closer, subscribers: number, like: Omit<Subscriber, 'token'>) {
  const client = closer.own(startChild<PushClientApi>({ program: 'bench/programs/push-client.ts' }));
  await client.call(
    'connect',
    Array.from({ length: subscribers }, (_, index) => ({ ...like, token: readerId(index) })),
  );
  return client;
}

/** So many events of actions that differ, as JSON of the same length. */
function eventsLike(sample: string): (count: number) => readonly string[] {
  const action = actionOf(sample);
  const { payload } = JSON.parse(sample) as { payload: { data: { feedEvents: unknown } } };
  if (action === null) throw new Error(`An event without an action: ${sample}`);
  const text = JSON.stringify(payload.data.feedEvents);
  let made = 0;
  return (count) =>
    Array.from({ length: count }, () => text.replace(action, String(made++).padStart(action.length, '0')));
}

function cpuOf(pids: Readonly<Record<'server' | 'client', number>> & { readonly emitter?: number }) {
  const kinds = new Map([
    [process.pid, 'benchmark'],
    [pids.server, SERVER],
    [pids.client, 'sockets'],
    ...(pids.emitter === undefined ? [] : [[pids.emitter, 'publisher'] as const]),
  ]);
  return () => cpuByKind(kinds);
}
