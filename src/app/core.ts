import type { Config } from '../config/config.ts';
import { NO_HOOKS, type Hooks } from '../domain/hook.ts';
import { NO_OFFERS, type Offers } from '../domain/offer.ts';
import { ERASURE_TIMING } from '../domain/erasure.ts';
import { forgetDeletedKeys } from '../connections/redis.ts';
import type { RedisPart } from '../connections/redis-parts.ts';
import { createEveryFeedStore, createFeedStore } from './feed-models.ts';
import type { Context } from '../feed/context.ts';
import { feedReader } from '../feed/feed-reader.ts';
import type { Tickets } from '../http/identity/tickets.ts';
import type { Realtime } from '../live/create-realtime.ts';
import { OwnWorker } from '../fan-out/own-worker.ts';
import type { Core, DirectoryAccess } from '../core/core.ts';
import { createSharedBoosts } from '../feed/watch/shared-boosts.ts';
import { listFacts } from '../feed/watch/list-decisions.ts';
import { feedFacts } from '../feed/watch/live-decisions.ts';
import { SharedDecisions, createSharedUnread } from '../feed/watch/shared-decisions.ts';
import { Samples } from '../features/operations/samples.ts';
import { countUnreadOfView } from '../feed/groups/view-counts.ts';
import { countUnreadOfWatcher } from '../feed/page/unread.ts';
import { itemsOf } from '../feed/page/views.ts';
import { NO_QUOTAS, type Quotas } from '../core/quotas.ts';
import { cursorSeal, UNSEALED } from '../core/cursor-seal.ts';
import { createEventReads, createEventSessions } from '../feed/session/event-sessions.ts';
import { chooseFeedModel } from '../feed/store/feed-epochs.ts';
import type { Database } from '../storage/database/mongo.ts';
import { forgetDeleted } from '../features/erasure/store/forget-deleted.ts';
import { createRepositories } from './repositories.ts';
import type { Repositories } from '../storage/repositories.ts';

type Observers = Pick<
  Context,
  'onLiveLogError' | 'onStoreUnavailable' | 'onPublished' | 'onFeedRead' | 'onShown'
>;

/** Its callbacks receive what does not fail the caller. */
export interface CoreOptions extends Observers {
  /** Owned by the caller, as are Redis and the parts of `realtime`. */
  readonly database: Database;
  /** Connections for commands on feeds; empty without Redis. */
  readonly redis: readonly RedisPart[];
  readonly feeds: Pick<
    Config['feeds'],
    'model' | 'cap' | 'dormantAfterMs' | 'relevancyWeights' | 'ranking' | 'reactions'
  > &
    Partial<Pick<Config['feeds'], 'impressions'>>;
  /** Whether clients get sealed cursors. Default: false. */
  readonly sealsCursors?: boolean;
  /** Default: unlimited. */
  readonly quotas?: Quotas;
  /** Questions to the host before something is recorded. Default: nothing. */
  readonly hooks?: Hooks;
  /** Default: hosts offer nothing. */
  readonly offers?: Offers;
  /** Reports at which something is hidden. Default: never. */
  readonly reportHideAfter?: number | null;
  /** What features put into the core by the configuration. Default: nothing. */
  readonly fields?: object;
  /** Access to the search of the directory. Default: admins and services. */
  readonly directory?: DirectoryAccess;
  /** Whether to record events for hosts. Default: false. */
  readonly recordsEvents?: boolean;
  /** Inactivity after which a reader gets a digest; null or absent: never. */
  readonly digestAfterMs?: number | null;
  readonly realtime: (repositories: Repositories) => Realtime;
  readonly tickets: (repositories: Repositories) => Tickets;
  /** Memory bound of the caches, in bytes. Default: that of the repositories. */
  readonly cacheBytes?: number | undefined;
  /** How long a process uses its cached list of pulled refs. Default: that of the repository. */
  readonly pullRefreshMs?: number | undefined;
}

function observersOf(options: CoreOptions): Observers {
  const { onLiveLogError, onStoreUnavailable, onPublished, onFeedRead, onShown } = options;
  return { onLiveLogError, onStoreUnavailable, onPublished, onFeedRead, onShown };
}

/** @throws when the feed model lacks a requirement, or newer processes use a different model. */
export async function createCore(options: CoreOptions): Promise<Core> {
  const { database, feeds, pullRefreshMs } = options;
  const { collections } = database;
  const feedEpoch = await chooseFeedModel(collections.feedEpochs, feeds.model);
  const repositories = createRepositories(collections, {
    feedEpoch,
    recordsEvents: options.recordsEvents ?? false,
    ...(pullRefreshMs === undefined ? {} : { pullRefreshMs }),
    ...(options.cacheBytes === undefined ? {} : { cacheBytes: options.cacheBytes }),
  });
  const { db, isSharded } = database;
  const feedParts = { db, isSharded, feedEpoch, cap: feeds.cap, redis: options.redis };
  const context: Context = {
    ...repositories,
    ...options.realtime(repositories),
    collections,
    feedStore: createFeedStore(feeds.model, feedParts),
    feedStores: createEveryFeedStore(feeds.model, feedParts),
    cap: feeds.cap,
    weights: feeds.relevancyWeights,
    ranking: feeds.ranking,
    offers: options.offers ?? NO_OFFERS,
    ...{ reactions: feeds.reactions, keepsImpressions: feeds.impressions ?? false },
    // The time of a reader's last read is stored as precisely as the shorter of the two periods requires.
    dormantAfterMs: Math.min(feeds.dormantAfterMs, options.digestAfterMs ?? Infinity),
    erasureTiming: ERASURE_TIMING,
    ...observersOf(options),
    forgetDeleted: async () => {
      await forgetDeleted(db);
      for (const { commands } of options.redis) await forgetDeletedKeys(commands);
    },
  };
  const [first] = options.redis;
  const read = createEventReads(repositories);
  const { openEventSession, beginWatch } = createEventSessions(context, read);
  const core: Core = {
    ...options.fields,
    ...context,
    ownWorker: new OwnWorker(),
    feedReader: feedReader(context),
    quotas: options.quotas ?? NO_QUOTAS,
    hooks: options.hooks ?? NO_HOOKS,
    reportHideAfter: options.reportHideAfter ?? null,
    directory: options.directory ?? { isOpen: false },
    tickets: options.tickets(repositories),
    samples: first === undefined ? null : new Samples(first),
    cursors:
      options.sealsCursors === true ? cursorSeal(await repositories.secrets.shared('cursors')) : UNSEALED,
    ...{ openEventSession, beginWatch },
    decisions: new SharedDecisions({
      read: feedFacts(createSharedBoosts(context), read),
      openSession: openEventSession,
    }),
    listDecisions: new SharedDecisions({
      read: listFacts(repositories, read),
      openSession: openEventSession,
      givesWay: true,
    }),
    countForWatcher: createSharedUnread(({ identity, view }) => {
      const session = openEventSession(identity);
      if (view === null) return countUnreadOfWatcher(core, session);
      return countUnreadOfView(core, session, itemsOf(identity.userId, view));
    }),
  };
  return core;
}
