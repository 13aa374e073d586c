import type { Config } from '../config/config.ts';
import type { RedisPart } from '../connections/redis-parts.ts';
import type { FeedStore } from '../feeds/feed-store.ts';
import { createEveryFeedStore, createFeedStore } from '../feeds/registry.ts';
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
import { createRepositories, type Repositories } from '../storage/repositories.ts';

/** What API and workers of one process share, from the repositories up to the services. */
export interface Core extends Realtime {
  readonly collections: Collections;
  readonly repositories: Repositories;
  readonly feedStore: FeedStore;
  /** Of every model that may hold a feed, in use or not. */
  readonly feedStores: readonly FeedStore[];
  readonly services: Services;
  readonly onLiveLogError: (error: unknown) => void;
}

/** Notified of what does not fail the caller. */
export interface CoreObserver {
  readonly liveLogFailed: (error: unknown) => void;
  readonly storeUnavailable: (error: unknown) => void;
  readonly published: (count: number) => void;
}

export interface CoreOptions {
  /** Stays the caller's, as do Redis and the parts of `realtime`. */
  readonly database: Database;
  /** For commands on feeds; empty where there is no Redis. */
  readonly redis: readonly Pick<RedisPart, 'commands' | 'prefix' | 'isSharded'>[];
  readonly feeds: Pick<
    Config['feeds'],
    'model' | 'cap' | 'dormantAfterMs' | 'relevancyWeights' | 'ranking' | 'reactions'
  >;
  /** Whether ids are stored with their tenant. Default: no. */
  readonly hasTenants?: boolean;
  /** How much each tenant may have. Default: as much as they like. */
  readonly quotas?: TenantQuotas;
  /** Whether what happens is recorded for hosts. Default: no. */
  readonly recordsEvents?: boolean;
  /** How long somebody has not read when they are reminded; null, absent: never. */
  readonly digestAfterMs?: number | null;
  readonly realtime: (repositories: Repositories) => Realtime;
  readonly tickets: (repositories: Repositories) => Tickets;
  readonly observer: CoreObserver;
  /** What the process may hold of what it has read. Default: that of the repositories. */
  readonly cacheBytes?: number | undefined;
  /** How long a process goes by what it has read of the pulled refs. Default: that of the repository. */
  readonly pullRefreshMs?: number | undefined;
}

/** @throws when the feed model needs something that is missing, or is not the one that newer processes use. */
export async function createCore(options: CoreOptions): Promise<Core> {
  const { database, feeds, observer, pullRefreshMs } = options;
  const { collections } = database;
  const feedEpoch = await chooseFeedModel(collections.feedEpochs, feeds.model);
  const repositories = createRepositories(collections, {
    feedEpoch,
    recordsEvents: options.recordsEvents ?? false,
    ...(pullRefreshMs === undefined ? {} : { pullRefreshMs }),
    ...(options.cacheBytes === undefined ? {} : { cacheBytes: options.cacheBytes }),
  });
  await Promise.all([repositories.actionCache.open(), repositories.nameCache.open()]);
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
    // When somebody read is noted as exactly as the shorter of the two asks for.
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
  };
}
