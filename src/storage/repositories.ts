import { belongingsRepository } from './belongings.ts';
import { CORE_COLLECTIONS } from './catalogue.ts';
import type { Declaration } from './documents/declaration.ts';
import { actionGroupsRepository } from './actions/action-groups.ts';
import { ActionCache } from './actions/action-cache.ts';
import { actionsRepository } from './actions/actions.ts';
import { detailsRepository } from './directory/details.ts';
import { followerPagesRepository, followerCountsRepository } from './follows/follower-counts.ts';
import { bookmarksRepository } from './readers/bookmarks.ts';
import { editsRepository } from './actions/edits.ts';
import { NO_EVENTS, WITH_EVENTS } from './stages/event-entries.ts';
import { dueWorkRepository } from './due/due-work.ts';
import { digestsRepository } from './events/digests.ts';
import { eventOutboxRepository } from './events/event-outbox.ts';
import { eventSourcesRepository } from './events/event-sources.ts';
import { hostEventsRepository } from './events/host-events.ts';
import { erasureListRepository, erasuresRepository } from './privacy/erasures.ts';
import { fanOutsRepository } from './fan-out/fan-outs.ts';
import { feedsRepository } from './readers/feeds.ts';
import { interactionsRepository } from './interactions/interactions.ts';
import { itemMarksRepository } from './readers/item-marks.ts';
import { followEndsRepository } from './follows/follow-ends.ts';
import { followsRepository } from './follows/follows.ts';
import { memberDataRepository } from './privacy/member-data.ts';
import { memberTracesRepository } from './privacy/member-traces.ts';
import { membersRepository } from './directory/members.ts';
import type { Collections } from './database/mongo.ts';
import { moderationRepository } from './actions/moderation.ts';
import { rankedActionsRepository, scoresRepository } from './actions/scores.ts';
import { processesRepository } from './database/processes.ts';
import { pinsRepository } from './readers/pins.ts';
import { erasedTenantsRepository } from './tenants/erased-tenants.ts';
import { tenantDataRepository } from './tenants/tenant-data.ts';
import { webhookDeliveriesRepository } from './events/webhook-deliveries.ts';
import { webhookReceiversRepository } from './events/webhook-receivers.ts';
import { workFiguresRepository } from './database/work-figures.ts';
import { offloadsRepository } from './offload/offloads.ts';
import { pulledRefs } from './follows/pulled-refs.ts';
import { readerStamps } from './readers/reader-stamps.ts';
import { readerChoicesRepository, readersRepository } from './readers/reader-choices.ts';
import { refsRepository } from './directory/refs.ts';
import { renamesRepository } from './directory/renames.ts';
import { sourceActionsRepository } from './actions/source-actions.ts';
import { schemaVersionRepository } from './database/schema-version.ts';
import { secretsRepository } from './database/secrets.ts';
import { snoozesRepository } from './readers/snoozes.ts';
import { directoryStampsRepository } from './directory/directory-stamps.ts';
import { NameCache } from './directory/name-cache.ts';

export interface RepositoryOptions {
  /** Collections of feed models. Default: none. */
  readonly feedCollections?: readonly Declaration[];
  /** Epoch of the current feed model; see `feed-epochs.ts`. */
  readonly feedEpoch?: number;
  /** Whether to record events for hosts. Default: false. */
  readonly recordsEvents?: boolean;
  /** See `pulled-refs.ts`. */
  readonly pullRefreshMs?: number;
  /** Approximate memory bound of a process's caches, in bytes. Default: 64 MiB. */
  readonly cacheBytes?: number;
}

const DEFAULT_CACHE_BYTES = 64 * 1_024 * 1_024;
/**
 * Shares of the cache memory. 5/16 are for parts rendered by the API; 1/8 is reserved for overhead such as spare capacity of
 * maps and lists.
 */
const ACTIONS_SHARE = 7 / 16;
const NAMES_SHARE = 1 / 8;

/** Named once, in what this returns. */
export type Repositories = ReturnType<typeof createRepositories>;

export function createRepositories(
  collections: Collections,
  {
    feedCollections = [],
    feedEpoch,
    pullRefreshMs,
    recordsEvents = false,
    cacheBytes = DEFAULT_CACHE_BYTES,
  }: RepositoryOptions = {},
) {
  const events = recordsEvents ? WITH_EVENTS : NO_EVENTS;
  const directoryStamps = directoryStampsRepository(collections.directoryStamps);
  const refs = refsRepository(collections.refs, directoryStamps);
  const stamps = readerStamps(collections.readerStamps);
  const members = membersRepository(collections.members, directoryStamps, stamps);
  const actions = actionsRepository(collections, events);
  return {
    actions,
    actionCache: new ActionCache(actions, Math.floor(cacheBytes * ACTIONS_SHARE)),
    actionGroups: actionGroupsRepository(collections),
    details: detailsRepository(collections),
    belongings: belongingsRepository(collections, events),
    bookmarks: bookmarksRepository(collections.bookmarks),
    itemMarks: itemMarksRepository(collections.itemMarks),
    edits: editsRepository(collections, events),
    erasures: erasuresRepository(collections.erasures, events),
    erasureList: erasureListRepository(collections.erasures),
    digests: digestsRepository(collections),
    dueWork: dueWorkRepository(collections),
    eventOutbox: eventOutboxRepository(collections),
    eventSources: eventSourcesRepository(collections),
    hostEvents: hostEventsRepository(collections),
    fanOuts: fanOutsRepository(collections.actions, events),
    feeds: feedsRepository(collections.feeds, feedEpoch, stamps),
    followerCounts: followerCountsRepository(collections.refs),
    followEnds: followEndsRepository(collections, events, stamps),
    followerPages: followerPagesRepository(collections.follows),
    follows: followsRepository(collections.follows, events),
    interactions: interactionsRepository(collections, events),
    memberData: memberDataRepository(collections, CORE_COLLECTIONS),
    memberTraces: memberTracesRepository(collections, CORE_COLLECTIONS, directoryStamps),
    nameCache: new NameCache({ members, refs, directoryStamps }, Math.floor(cacheBytes * NAMES_SHARE)),
    members,
    moderation: moderationRepository(collections, events),
    processes: processesRepository(collections),
    rankedActions: rankedActionsRepository(collections.actions),
    readerChoices: readerChoicesRepository(collections),
    readers: readersRepository(collections),
    readerStamps: stamps,
    refs,
    offloads: offloadsRepository(collections),
    pins: pinsRepository(collections),
    pulledRefs: pulledRefs(refs, pullRefreshMs),
    renames: renamesRepository(collections, directoryStamps),
    schemaVersion: schemaVersionRepository(collections),
    scores: scoresRepository(collections),
    secrets: secretsRepository(collections.secrets),
    snoozes: snoozesRepository(collections.itemMarks),
    erasedTenants: erasedTenantsRepository(collections.erasedTenants),
    tenantData: tenantDataRepository(collections, [...CORE_COLLECTIONS, ...feedCollections]),
    sourceActions: sourceActionsRepository(collections.actions, collections.follows),
    webhookDeliveries: webhookDeliveriesRepository(collections),
    webhookReceivers: webhookReceiversRepository(collections),
    workFigures: workFiguresRepository(collections),
  };
}
