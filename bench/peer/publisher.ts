import { now } from '../harness/statistics.ts';
import { answer } from '../programs/answer.ts';
import { openPeer, requirePeer, settingsOf, type PeerFeed } from './manager.ts';

/** What the bench asks of the peer. */
export interface PeerApi {
  readonly [name: string]: (argument: never) => unknown;
  /** Fills one feed with so many activities, as the peer's own benchmark does. */
  readonly prepareRead: (argument: { readonly activities: number }) => Promise<void>;
  /** Reads the first 20 so often, so many at a time; milliseconds in all. */
  readonly read: (argument: { readonly count: number; readonly concurrency: number }) => Promise<number>;
  /** Makes a source with so many followers, and listens on the socket of the last one. */
  readonly prepareSource: (argument: { readonly followers: number }) => Promise<void>;
  /**
   * Adds so many activities to the source at once; milliseconds until the last follower has them all. Null when
   * something never came to their sockets.
   */
  readonly fanOut: (argument: {
    readonly activities: number;
    readonly bull: boolean;
  }) => Promise<number | null>;
  /** Entries of feeds in the database. */
  readonly stored: (argument: null) => Promise<number>;
}

const BATCH = 1_000;
const SOURCE = 'source';
/** So long after everything was added and the last arrival nothing more comes. */
const SILENCE_MS = 150_000;
const settings = settingsOf(process.argv[2]);
const { manager, stored } = await openPeer(settings);
const client = (requirePeer('socket.io-client') as (url: string) => SocketClient)(settings.socketUrl);
let readable: PeerFeed | null = null;
let source: PeerFeed | null = null;
let run = 0;
const arrived = new Set<string>();
let onArrival: () => void = () => undefined;

interface SocketClient {
  readonly on: (
    channel: string,
    listener: (message: {
      readonly operations: readonly { readonly activity: { readonly foreign_id: string } }[];
    }) => void,
  ) => void;
}

const api: PeerApi = {
  prepareRead: async ({ activities }) => {
    const feed = await manager.getOrCreateFeed('timeline_aggregated', 'test');
    const numbers = Array.from({ length: activities }, (_, index) => index);
    for (let from = 0; from < activities; from += 100)
      await Promise.all(
        numbers.slice(from, from + 100).map((index) =>
          manager.addActivity(
            {
              foreign_id: `test:${String(index)}`,
              time: '2018-08-01T04:06:02.223654',
              actor: `user:${String(index)}`,
              verb: 'tweet',
              object: `tweet:${String(index)}`,
            },
            feed,
          ),
        ),
      );
    readable = feed;
  },
  read: async ({ count, concurrency }) => {
    const feed = readable;
    if (feed === null) throw new Error('There is nothing to read');
    let left = count;
    const start = now();
    const lane = async (): Promise<void> => {
      while (left-- > 0) {
        const page = await manager.readFeed(feed, 0, 20);
        if (page.length !== 20) throw new Error(`The peer's page has ${String(page.length)} entries`);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, lane));
    return now() - start;
  },
  prepareSource: async ({ followers }) => {
    source = await prepareSource(followers);
  },
  fanOut: async ({ activities, bull }) => {
    const feed = source;
    if (feed === null) throw new Error('There is no source');
    manager.options.bull = bull;
    run += 1;
    arrived.clear();
    const numbers = Array.from({ length: activities }, (_, index) => index);
    const start = now();
    let end = 0;
    const everybody = new Promise<void>((resolve) => {
      onArrival = () => {
        end = now();
        if (arrived.size === activities) resolve();
      };
    });
    await Promise.all(
      numbers.map((index) => {
        const foreign_id = `fan-out:${String(run)}:${String(index)}`;
        return manager.addActivity({ foreign_id, actor: 'user:1', verb: 'tweet', object: 'tweet:1' }, feed);
      }),
    );
    return (await Promise.race([everybody.then(() => true), silence(() => end)])) ? end - start : null;
  },
  stored: () => stored(),
};
answer(api);

/** Resolves to false when nothing has come for so long. */
async function silence(lastArrival: () => number): Promise<false> {
  const from = now();
  for (;;) {
    const left = Math.max(from, lastArrival()) + SILENCE_MS - now();
    if (left <= 0) return false;
    await new Promise((resolve) => setTimeout(resolve, left).unref());
  }
}

async function prepareSource(followers: number): Promise<PeerFeed> {
  const target = await manager.getOrCreateFeed('user', SOURCE);
  for (let from = 0; from < followers; from += BATCH) {
    const length = Math.min(BATCH, followers - from);
    const references = Array.from({ length }, (_, index) => ({
      group: 'timeline',
      feedID: `${SOURCE}-${String(from + index)}`,
    }));
    const feeds = (await manager.getOrCreateFeeds(references))['timeline'] ?? {};
    await manager.followMany(
      references.map(({ feedID }) => {
        const source = feeds[feedID];
        if (source === undefined) throw new Error(`The peer has not made the feed ${feedID}`);
        return { source, target };
      }),
      0,
    );
  }
  client.on(`feed-timeline--${SOURCE}-${String(followers - 1)}`, ({ operations }) => {
    const [operation] = operations;
    if (operation === undefined) return;
    arrived.add(operation.activity.foreign_id);
    onArrival();
  });
  return target;
}
