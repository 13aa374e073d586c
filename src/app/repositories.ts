import { belongingsRepository } from '../storage/belongings.ts';
import { actionGroupsRepository } from '../feed/store/action-groups.ts';
import { ActionCache } from '../storage/actions/action-cache.ts';
import { actionsRepository } from '../storage/actions/actions.ts';
import { detailsRepository } from '../features/directory/store/details.ts';
import {
  followerPagesRepository,
  followerCountsRepository,
} from '../features/follow/store/follower-counts.ts';
import { engagement } from '../features/interactions/store/engagement.ts';
import { feedMutes } from '../features/mutes/store.ts';
import { feedRebuilds } from '../features/rebuild/store.ts';
import { publishing } from '../features/publish/store/publishing.ts';
import { editsRepository } from '../features/publish/store/edits.ts';
import { scheduledRepository } from '../features/publish/store/scheduled.ts';
import { NO_EVENTS, WITH_EVENTS, type EventEntries } from '../storage/stages/event-entries.ts';
import { eventOutboxRepository } from '../features/events/store/event-outbox.ts';
import { erasuresRepository } from '../features/erasure/store/erasures.ts';
import { fanOutsRepository } from '../fan-out/store/fan-outs.ts';
import { feedsRepository } from '../feed/store/feeds.ts';
import { interactionsRepository } from '../features/interactions/store/interactions.ts';
import { ofImpressions } from '../features/impressions/store.ts';
import { itemMarksRepository } from '../features/marks/store/item-marks.ts';
import { followEndsRepository, followsRepository } from '../features/follow/store/follows.ts';
import { followStartsRepository } from '../features/follow/store/follow-starts.ts';
import { membersRepository } from '../features/directory/store/members.ts';
import { CORE_COLLECTIONS } from './features.ts';
import type { Repositories } from '../storage/repositories.ts';
import type { Collections } from '../storage/database/mongo.ts';
import { readerListsRepository } from '../features/lists/store.ts';
import { blocksRepository } from '../features/blocks/store.ts';
import { moderationRepository } from '../features/moderation/store/moderation.ts';
import { rankedActionsRepository, rankingCache, scoresRepository } from '../features/ranking/store.ts';
import { processesRepository } from '../storage/database/processes.ts';
import { pinsRepository } from '../features/moderation/store/pins.ts';
import { erasedTenantsRepository } from '../features/tenants/store.ts';
import { workFiguresRepository } from '../storage/database/work-figures.ts';
import { pulledRefs } from '../feed/store/pulled-refs.ts';
import { readerStamps, type ReaderStamps } from '../storage/stamps/reader-stamps.ts';
import { knownOfFeeds } from '../feed/store/known-answers.ts';
import { readerChoicesRepository, readersRepository } from '../feed/store/reader-choices.ts';
import { reportsRepository } from '../features/reports/store.ts';
import { refsRepository } from '../features/directory/store/refs.ts';
import { renamesRepository } from '../features/directory/store/renames.ts';
import { sourceActionsRepository } from '../storage/actions/source-actions.ts';
import { schemaVersionRepository } from '../storage/database/schema-version.ts';
import { secretsRepository } from '../storage/database/secrets.ts';
import { markEndsRepository } from '../features/marks/store/mark-ends.ts';
import { directoryStampsRepository } from '../storage/stamps/directory-stamps.ts';
import { NameCache } from '../features/directory/store/name-cache.ts';

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

/** What readers have said of their lists. */
function ofReaders(collections: Collections, stamps: ReturnType<typeof readerStamps>) {
  return {
    itemMarks: itemMarksRepository(collections.itemMarks),
    readerLists: readerListsRepository(collections, stamps),
    ...ofImpressions(collections, stamps),
  };
}

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
  const actions = actionsRepository(collections);
  const blocks = blocksRepository(collections.blocks);
  return {
    collections,
    declarations: CORE_COLLECTIONS,
    actions,
    actionCache: new ActionCache(actions, Math.floor(cacheBytes * ACTIONS_SHARE)),
    actionGroups: actionGroupsRepository(collections),
    details: detailsRepository(collections),
    blocks,
    belongings: belongingsRepository(collections, CORE_COLLECTIONS, events),
    ...{ edits: editsRepository(collections, events), scheduled: scheduledRepository(collections, events) },
    erasures: erasuresRepository(collections.erasures, events),
    engagement: engagement(collections.actions, events),
    eventOutbox: eventOutboxRepository(collections),
    fanOuts: fanOutsRepository(collections.actions, events),
    ...ofFeeds(collections.feeds, feedEpoch, stamps),
    ...ofFollows(collections, events),
    ...ofReaders(collections, stamps),
    interactions: interactionsRepository(collections, events),
    ...knownOfFeeds(cacheBytes),
    nameCache: new NameCache({ members, refs, directoryStamps }, Math.floor(cacheBytes * NAMES_SHARE)),
    members,
    moderation: moderationRepository(collections, events),
    processes: processesRepository(collections),
    rankedActions: rankedActionsRepository(collections.actions),
    rankingCache: rankingCache(),
    readerChoices: readerChoicesRepository(collections, blocks),
    readers: readersRepository(collections),
    readerStamps: stamps,
    refs,
    reports: reportsRepository(collections.reports, events),
    publishing: publishing(collections, events),
    pins: pinsRepository(collections),
    pulledRefs: pulledRefs(refs, pullRefreshMs),
    renames: renamesRepository(collections, directoryStamps),
    schemaVersion: schemaVersionRepository(collections),
    scores: scoresRepository(collections),
    secrets: secretsRepository(collections.secrets),
    markEnds: markEndsRepository(collections.itemMarks),
    erasedTenants: erasedTenantsRepository(collections.erasedTenants),
    sourceActions: sourceActionsRepository(collections.actions, collections.follows),
    workFigures: workFiguresRepository(collections),
  };
}

/** Repositories of the document of a reader. */
function ofFeeds(
  collection: Collections['feeds'],
  feedEpoch: number | undefined,
  stamps: ReaderStamps,
): Pick<Repositories, 'feedMutes' | 'feedRebuilds' | 'feeds'> {
  return {
    feedMutes: feedMutes(collection, stamps),
    feedRebuilds: feedRebuilds(collection, feedEpoch),
    feeds: feedsRepository(collection, feedEpoch, stamps),
  };
}

/** Repositories of follows. */
function ofFollows(
  collections: Collections,
  events: EventEntries,
): Pick<Repositories, 'followerCounts' | 'followEnds' | 'followStarts' | 'followerPages' | 'follows'> {
  return {
    followerCounts: followerCountsRepository(collections.refs),
    followEnds: followEndsRepository(collections.follows, events),
    followStarts: followStartsRepository(collections),
    followerPages: followerPagesRepository(collections.follows),
    follows: followsRepository(collections.follows, events),
  };
}
