import { actionGroupsRepository, type ActionGroupsRepository } from './actions/action-groups.ts';
import { ActionCache } from './actions/action-cache.ts';
import { actionsRepository, type ActionsRepository } from './actions/actions.ts';
import { detailsRepository, type DetailsRepository } from './directory/details.ts';
import { followerPagesRepository, type FollowerPagesRepository } from './follows/follower-pages.ts';
import { bookmarksRepository, type BookmarksRepository } from './readers/bookmarks.ts';
import { editsRepository, type EditsRepository } from './actions/edits.ts';
import { NO_EVENTS, WITH_EVENTS } from './stages/event-entries.ts';
import { dueWorkRepository, type DueWorkRepository } from './due/due-work.ts';
import { digestsRepository, type DigestsRepository } from './events/digests.ts';
import { eventOutboxRepository, type EventOutboxRepository } from './events/event-outbox.ts';
import { eventSourcesRepository, type EventSourcesRepository } from './events/event-sources.ts';
import { hostEventsRepository, type HostEventsRepository } from './events/host-events.ts';
import { erasuresRepository, type ErasuresRepository } from './privacy/erasures.ts';
import { fanOutsRepository, type FanOutsRepository } from './fan-out/fan-outs.ts';
import { feedsRepository, type FeedsRepository } from './readers/feeds.ts';
import { interactionsRepository, type InteractionsRepository } from './interactions/interactions.ts';
import { itemMarksRepository, type ItemMarksRepository } from './readers/item-marks.ts';
import { followerCountsRepository, type FollowerCountsRepository } from './follows/follower-counts.ts';
import { followEndsRepository, type FollowEndsRepository } from './follows/follow-ends.ts';
import { followsRepository, type FollowsRepository } from './follows/follows.ts';
import { memberDataRepository, type MemberDataRepository } from './privacy/member-data.ts';
import { memberTracesRepository, type MemberTracesRepository } from './privacy/member-traces.ts';
import { membersRepository, type MembersRepository } from './directory/members.ts';
import type { Collections } from './database/mongo.ts';
import { moderationRepository, type ModerationRepository } from './actions/moderation.ts';
import { rankedActionsRepository, type RankedActionsRepository } from './actions/ranked-actions.ts';
import { processesRepository, type ProcessesRepository } from './database/processes.ts';
import { erasureListRepository, type ErasureListRepository } from './privacy/erasure-list.ts';
import { pinsRepository, type PinsRepository } from './readers/pins.ts';
import { erasedTenantsRepository, type ErasedTenantsRepository } from './tenants/erased-tenants.ts';
import { tenantDataRepository, type TenantDataRepository } from './tenants/tenant-data.ts';
import {
  webhookDeliveriesRepository,
  type WebhookDeliveriesRepository,
} from './events/webhook-deliveries.ts';
import { webhookReceiversRepository, type WebhookReceiversRepository } from './events/webhook-receivers.ts';
import { workFiguresRepository, type WorkFiguresRepository } from './database/work-figures.ts';
import { offloadsRepository, type OffloadsRepository } from './offload/offloads.ts';
import { pulledRefs, type PulledRefs } from './follows/pulled-refs.ts';
import { readerStamps, type ReaderStamps } from './readers/reader-stamps.ts';
import { readerChoicesRepository, type ReaderChoicesRepository } from './readers/reader-choices.ts';
import { readersRepository, type ReadersRepository } from './readers/readers.ts';
import { refsRepository, type RefsRepository } from './directory/refs.ts';
import { renamesRepository, type RenamesRepository } from './directory/renames.ts';
import { sourceActionsRepository, type SourceActionsRepository } from './actions/source-actions.ts';
import { schemaVersionRepository, type SchemaVersionRepository } from './database/schema-version.ts';
import { secretsRepository, type SecretsRepository } from './database/secrets.ts';
import { snoozesRepository, type SnoozesRepository } from './readers/snoozes.ts';
import { directoryStampsRepository } from './directory/directory-stamps.ts';
import { NameCache } from './directory/name-cache.ts';
import { scoresRepository, type ScoresRepository } from './actions/scores.ts';

export interface Repositories {
  readonly actionGroups: ActionGroupsRepository;
  readonly actions: ActionsRepository;
  readonly actionCache: ActionCache;
  readonly details: DetailsRepository;
  readonly bookmarks: BookmarksRepository;
  readonly itemMarks: ItemMarksRepository;
  readonly edits: EditsRepository;
  readonly erasures: ErasuresRepository;
  readonly erasureList: ErasureListRepository;
  readonly digests: DigestsRepository;
  readonly dueWork: DueWorkRepository;
  readonly eventOutbox: EventOutboxRepository;
  readonly eventSources: EventSourcesRepository;
  readonly hostEvents: HostEventsRepository;
  readonly fanOuts: FanOutsRepository;
  readonly feeds: FeedsRepository;
  readonly followerCounts: FollowerCountsRepository;
  readonly followEnds: FollowEndsRepository;
  readonly followerPages: FollowerPagesRepository;
  readonly follows: FollowsRepository;
  readonly interactions: InteractionsRepository;
  readonly memberData: MemberDataRepository;
  readonly memberTraces: MemberTracesRepository;
  readonly members: MembersRepository;
  readonly nameCache: NameCache;
  readonly moderation: ModerationRepository;
  readonly processes: ProcessesRepository;
  readonly rankedActions: RankedActionsRepository;
  readonly readerChoices: ReaderChoicesRepository;
  readonly readers: ReadersRepository;
  readonly readerStamps: ReaderStamps;
  readonly refs: RefsRepository;
  readonly offloads: OffloadsRepository;
  readonly pins: PinsRepository;
  readonly pulledRefs: PulledRefs;
  readonly renames: RenamesRepository;
  readonly schemaVersion: SchemaVersionRepository;
  readonly scores: ScoresRepository;
  readonly secrets: SecretsRepository;
  readonly snoozes: SnoozesRepository;
  readonly erasedTenants: ErasedTenantsRepository;
  readonly tenantData: TenantDataRepository;
  readonly sourceActions: SourceActionsRepository;
  readonly webhookDeliveries: WebhookDeliveriesRepository;
  readonly webhookReceivers: WebhookReceiversRepository;
  readonly workFigures: WorkFiguresRepository;
}

export interface RepositoryOptions {
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

export function createRepositories(
  collections: Collections,
  {
    feedEpoch,
    pullRefreshMs,
    recordsEvents = false,
    cacheBytes = DEFAULT_CACHE_BYTES,
  }: RepositoryOptions = {},
): Repositories {
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
    bookmarks: bookmarksRepository(collections.bookmarks),
    itemMarks: itemMarksRepository(collections.itemMarks),
    edits: editsRepository(collections, events),
    erasures: erasuresRepository(collections.erasures, events),
    erasureList: erasureListRepository(collections),
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
    memberData: memberDataRepository(collections),
    memberTraces: memberTracesRepository(collections, directoryStamps),
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
    tenantData: tenantDataRepository(collections),
    sourceActions: sourceActionsRepository(collections.actions, collections.follows),
    webhookDeliveries: webhookDeliveriesRepository(collections),
    webhookReceivers: webhookReceiversRepository(collections),
    workFigures: workFiguresRepository(collections),
  };
}
