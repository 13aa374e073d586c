import { createRequire } from 'node:module';

/** The peer's own API, as far as it is used here. */
export interface FeedManager {
  readonly options: { bull: boolean };
  readonly queue: {
    process(
      concurrency: number,
      work: (job: { readonly data: { readonly args: readonly unknown[] } }) => unknown,
    ): void;
    on(event: 'error', listener: (error: Error) => void): void;
  };
  getOrCreateFeed(group: string, id: string): Promise<PeerFeed>;
  getOrCreateFeeds(
    references: readonly { readonly group: string; readonly feedID: string }[],
  ): Promise<Readonly<Record<string, Readonly<Record<string, PeerFeed>>>>>;
  followMany(
    pairs: readonly { readonly source: PeerFeed; readonly target: PeerFeed }[],
    copyLimit: number,
  ): Promise<void>;
  addActivity(activity: PeerActivity, feed: PeerFeed): Promise<unknown>;
  readFeed(feed: PeerFeed, offset: number, limit: number): Promise<readonly unknown[]>;
  _fanout(...args: readonly unknown[]): Promise<void>;
}

export interface PeerFeed {
  readonly _id: unknown;
}

export interface PeerActivity {
  readonly foreign_id: string;
  readonly actor: string;
  readonly verb: string;
  readonly object: string;
  readonly time?: string;
}

interface Mongoose {
  readonly models: Readonly<
    Record<string, { init(): Promise<unknown>; countDocuments(filter: object): Promise<number> }>
  >;
  connect(uri: string, options: object): Promise<unknown>;
  set(name: string, value: boolean): void;
}

interface PeerPackage {
  readonly FeedManager: new (mongo: unknown, redis: unknown, options: object) => FeedManager;
  readonly SocketIOFirehose: new (url: string) => object;
}

export interface PeerSettings {
  readonly mongodbUri: string;
  readonly database: string;
  readonly redisUrl: string;
  readonly socketUrl: string;
}

export interface OpenPeer {
  readonly manager: FeedManager;
  /** Entries of feeds that are stored. */
  readonly stored: () => Promise<number>;
}

/** The packages are old and of mixed syntax: they are loaded the old way, through the loader that runs this file. */
export const requirePeer = createRequire(import.meta.url);

/** Opens the peer as its own benchmark does, on the given databases, and waits until its indexes are there. */
export async function openPeer(settings: PeerSettings): Promise<OpenPeer> {
  const mongoose = requirePeer('mongoose') as Mongoose;
  const Redis = requirePeer('ioredis') as new (url: string) => object;
  const peer = requirePeer('mongodb-activity-feed/src/index.js') as PeerPackage;
  mongoose.set('useFindAndModify', false);
  mongoose.set('useCreateIndex', true);
  const mongo = mongoose.connect(settings.mongodbUri, {
    dbName: settings.database,
    autoIndex: true,
    poolSize: 50,
    useNewUrlParser: true,
    useUnifiedTopology: true,
  });
  await mongo;
  const { hostname, port, password, searchParams } = new URL(settings.redisUrl);
  const path = searchParams.get('path');
  const place = path === null ? { host: hostname, port: Number(port) } : { path };
  // Its queue reads its address from a property that a client does not have; without it, it would take the default one.
  const redis = Object.assign(new Redis(settings.redisUrl), {
    redis: { ...place, ...(password === '' ? {} : { password }) },
  });
  const firehose = new peer.SocketIOFirehose(settings.socketUrl);
  const manager = new peer.FeedManager(mongo, redis, { firehose, bull: true });
  manager.queue.on('error', (error) => {
    console.error(error);
  });
  await Promise.all(Object.values(mongoose.models).map((model) => model.init()));
  return {
    manager,
    stored: async () => (await mongoose.models['ActivityFeed']?.countDocuments({})) ?? 0,
  };
}

export function settingsOf(text: string | undefined): PeerSettings {
  if (text === undefined) throw new Error('The settings are missing');
  return JSON.parse(text) as PeerSettings;
}
