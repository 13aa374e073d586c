import type { Config } from '../config/config.ts';
import { forgetDeletedKeys } from '../connections/forget-deleted-keys.ts';
import type { RedisPart } from '../connections/redis-parts.ts';
import type { FeedStore } from '../feeds/feed-store.ts';
import { createEveryFeedStore, createFeedStore, FEED_COLLECTIONS } from '../packages/feed-models.ts';
import type { Tickets } from '../http/identity/tickets.ts';
import type { Realtime } from '../realtime/create-realtime.ts';
import { createServices } from '../services/create-services.ts';
import type { Services } from '../services/create-services.ts';
import { cursorSeal, UNSEALED } from '../services/tenants/cursor-seal.ts';
import { NO_QUOTAS, type TenantQuotas } from '../services/tenants/quotas.ts';
import { createEventSessions } from '../services/session/event-sessions.ts';
import { openSession } from '../services/session/open-session.ts';
import { chooseFeedModel } from '../storage/readers/feed-epochs.ts';
import { newObjectId, type Collections, type Database } from '../storage/database/mongo.ts';
import { forgetDeleted } from '../storage/privacy/forget-deleted.ts';
import { createRepositories, type Repositories } from '../storage/repositories.ts';

/** Shared by API and workers of one process: repositories, feed stores, services. */
export interface Core extends Realtime {
  readonly collections: Collections;
  readonly repositories: Repositories;
  readonly feedStore: FeedStore;
  /** Stores of every feed model that may still contain feeds, in use or not. */
  readonly feedStores: readonly FeedStore[];
  readonly services: Services;
  readonly onLiveLogError: (error: unknown) => void;
  /** Removes what was deleted from the files of local databases, too. */
  readonly forgetDeleted: () => Promise<void>;
}

/** Receives events that do not fail the caller. */
export interface CoreObserver {
  readonly liveLogFailed: (error: unknown) => void;
  readonly storeUnavailable: (error: unknown) => void;
  readonly published: (count: number) => void;
}

export interface CoreOptions {
  /** Owned by the caller, as are Redis and the parts of `realtime`. */
  readonly database: Database;
  /** Connections for commands on feeds; empty without Redis. */
  readonly redis: readonly Pick<RedisPart, 'commands' | 'prefix' | 'isSharded'>[];
  readonly feeds: Pick<
    Config['feeds'],
    'model' | 'cap' | 'dormantAfterMs' | 'relevancyWeights' | 'ranking' | 'reactions'
  >;
  /** Whether stored ids carry their tenant. Default: false. */
  readonly hasTenants?: boolean;
  /** Quotas of each tenant. Default: unlimited. */
  readonly quotas?: TenantQuotas;
  /** Whether to record events for hosts. Default: false. */
  readonly recordsEvents?: boolean;
  /** Inactivity after which a reader gets a digest; null or absent: never. */
  readonly digestAfterMs?: number | null;
  readonly realtime: (repositories: Repositories) => Realtime;
  readonly tickets: (repositories: Repositories) => Tickets;
  readonly observer: CoreObserver;
  /** Memory bound of the caches, in bytes. Default: that of the repositories. */
  readonly cacheBytes?: number | undefined;
  /** How long a process uses its cached list of pulled refs. Default: that of the repository. */
  readonly pullRefreshMs?: number | undefined;
}

/** @throws when the feed model lacks a requirement, or newer processes use a different model. */
export async function createCore(options: CoreOptions): Promise<Core> {
  const { database, feeds, observer, pullRefreshMs } = options;
  const { collections } = database;
  const feedEpoch = await chooseFeedModel(collections.feedEpochs, feeds.model);
  const repositories = createRepositories(collections, {
    feedCollections: FEED_COLLECTIONS,
    feedEpoch,
    recordsEvents: options.recordsEvents ?? false,
    ...(pullRefreshMs === undefined ? {} : { pullRefreshMs }),
    ...(options.cacheBytes === undefined ? {} : { cacheBytes: options.cacheBytes }),
  });
  const feedParts = {
    db: database.db,
    isSharded: database.isSharded,
    feedEpoch,
    cap: feeds.cap,
    redis: options.redis,
  };
  const feedStore = createFeedStore(feeds.model, feedParts);
  const feedStores = createEveryFeedStore(feeds.model, feedParts);
  const realtime = options.realtime(repositories);
  const services = createServices({
    ...repositories,
    ...realtime,
    feedStore,
    feedStores,
    weights: feeds.relevancyWeights,
    ranking: feeds.ranking,
    reactions: feeds.reactions,
    // The time of a reader's last read is stored as precisely as the shorter of the two periods requires.
    dormantAfterMs: Math.min(feeds.dormantAfterMs, options.digestAfterMs ?? Infinity),
    newToken: newObjectId,
    quotas: options.quotas ?? NO_QUOTAS,
    tickets: options.tickets(repositories),
    cursorSeal:
      options.hasTenants === true ? cursorSeal(await repositories.secrets.shared('cursors')) : UNSEALED,
    openSession: (identity) => openSession(repositories, identity),
    openEventSession: createEventSessions(repositories),
    onLiveLogError: observer.liveLogFailed,
    onStoreUnavailable: observer.storeUnavailable,
    onPublished: observer.published,
  });
  return {
    ...realtime,
    collections,
    repositories,
    feedStore,
    feedStores,
    services,
    onLiveLogError: observer.liveLogFailed,
    forgetDeleted: async () => {
      await forgetDeleted(database.db);
      for (const { commands } of options.redis) await forgetDeletedKeys(commands);
    },
  };
}
