import type { RankingWeights } from '../domain/ranking.ts';
import type { RelevancyWeights } from '../domain/relevancy.ts';
import type { Identity } from '../domain/viewer.ts';
import { feedReader } from '../feeds/feed-reader.ts';
import { laySnoozes } from '../feeds/lay-snoozes.ts';
import type { FeedStore } from '../feeds/feed-store.ts';
import type { LiveLog } from '../realtime/live-log.ts';
import type { SessionEnds } from '../realtime/session-ends.ts';
import type { WorkSignal } from '../realtime/work-signal.ts';
import type { Repositories } from '../storage/repositories.ts';
import { upsertMembers, upsertRefs } from './members/directory.ts';
import { readMember, readRef } from './members/read-directory.ts';
import { createFollowersReader } from './follow/followers.ts';
import { eraseMember, readErasure } from './privacy/erase-member.ts';
import { exportMember, memberExport } from './privacy/export-member.ts';
import { explainFeedItem } from './feed/explain-item.ts';
import { findFirstUnread } from './feed/first-unread.ts';
import { follow, followMany } from './follow/follow.ts';
import { following } from './follow/following.ts';
import { bookmark, readBookmarks, unbookmark } from './feed/bookmarks.ts';
import {
  archiveFeedItem,
  clearItemState,
  readHiddenItems,
  setItemState,
  unarchiveFeedItem,
} from './feed/item-state.ts';
import { snoozeFeedItem, unsnoozeFeedItem } from './feed/snooze-item.ts';
import { markItemsRead, markItemsUnread } from './feed/mark-items.ts';
import { addMute, mute, removeMute, unmute } from './follow/mutes.ts';
import { unfollow } from './follow/unfollow.ts';
import { unfollowMany } from './follow/unfollow-many.ts';
import { deleteAction, readModerationLog, setHidden } from './moderation/moderate-action.ts';
import { pinAction, readPinned, unpinAction } from './moderation/pin-action.ts';
import { readHostEvents } from './events/host-events.ts';
import { listErasures } from './privacy/list-erasures.ts';
import { readWork } from './operations/read-work.ts';
import { markFeedRead } from './feed/mark-read.ts';
import { publishAction, publishActions } from './publish/publish-action.ts';
import { updateAction } from './publish/update-action.ts';
import { getAction, listActions, readSlice } from './feed/read-actions.ts';
import { getFeedGroup, readFeedGroups } from './feed/read-groups.ts';
import { countUnread, getNewsfeedItem, readFeed } from './feed/read-feed.ts';
import type { ReaderSession } from './session/reader-session.ts';
import { makeDue, rebuildFeed, rebuildFeeds } from './feed/rebuild-feed.ts';
import { renameRef } from './members/rename-ref.ts';
import { addInteraction } from './interactions/add-interaction.ts';
import { getInteraction } from './interactions/find-interaction.ts';
import { setInteractionHidden, updateInteraction } from './interactions/moderate-interaction.ts';
import { latestInteractions, listInteractions } from './interactions/read-interactions.ts';
import { removeInteraction } from './interactions/remove-interaction.ts';
import { ERASURE_TIMING } from '../workers/erasure/run-erasure.ts';
import { retryFanOut } from './moderation/retry-fan-out.ts';
import type { Services, Ticket } from './services.ts';
import { createSharedBoosts } from './feed/shared-boosts.ts';
import { createSharedUnread } from './feed/shared-unread.ts';
import { watchFeed } from './feed/watch-feed.ts';

export interface ServiceParts extends Repositories {
  readonly feedStore: FeedStore;
  /** Of every model that may hold a feed, in use or not. */
  readonly feedStores: readonly FeedStore[];
  readonly weights: RelevancyWeights;
  readonly dormantAfterMs: number;
  readonly ranking: RankingWeights;
  /** The reactions that may be given. */
  readonly reactions: readonly string[];
  readonly liveLog: LiveLog;
  readonly workSignal: WorkSignal;
  readonly sessionEnds: SessionEnds;
  readonly openSession: (identity: Identity) => ReaderSession;
  readonly openEventSession: (identity: Identity) => ReaderSession;
  readonly newToken: () => string;
  readonly tickets: TicketOffice;
  readonly onPublished: (count: number) => void;
  readonly onLiveLogError: (error: unknown) => void;
  readonly onStoreUnavailable: (error: unknown) => void;
}

/** Signs and reads tickets. */
interface TicketOffice {
  sign(identity: Identity): Promise<Ticket>;
  read(ticket: string): Promise<Identity>;
}

/** Binds every use case to its parts. */
export function createServices(given: ServiceParts): Services {
  const parts = {
    ...given,
    feedReader: laySnoozes(feedReader({ ...given, onLost: (userId) => makeDue(given, [userId]) })),
  };
  const watching = {
    liveLog: parts.liveLog,
    openSession: parts.openEventSession,
    reading: parts,
    boosts: createSharedBoosts(parts),
    countUnread: createSharedUnread({ ...parts, openSession: parts.openEventSession }),
  };
  return {
    openSession: parts.openSession,
    openEventSession: parts.openEventSession,
    createTicket: (identity) => parts.tickets.sign(identity),
    readTicket: (ticket) => parts.tickets.read(ticket),
    publishAction: (identity, input) => publishAction(parts, identity, input),
    publishActions: (identity, inputs, options) => publishActions(parts, identity, inputs, options),
    retryFanOut: (identity, id) => retryFanOut(parts, identity, id),
    recordInteraction: async (session, input) => (await addInteraction(parts, session, input)).action,
    addInteraction: (session, input) => addInteraction(parts, session, input),
    removeInteraction: (session, input) => removeInteraction(parts, session, input),
    hideInteraction: (session, id, reason) =>
      setInteractionHidden(parts, session, id, { kind: 'HIDE_INTERACTION', reason }),
    unhideInteraction: (session, id) =>
      setInteractionHidden(parts, session, id, { kind: 'UNHIDE_INTERACTION', reason: null }),
    updateInteraction: (session, id, text) => updateInteraction(parts, session, id, text),
    getInteraction: (session, id) => getInteraction(parts, session, id),
    listInteractions: (session, actionId, args) => listInteractions(session, actionId, args),
    latestInteractions: (session, args) => latestInteractions(parts, session, args),
    hideAction: (session, id, reason) => setHidden(parts, session, id, 'HIDE', reason),
    unhideAction: (session, id) => setHidden(parts, session, id, 'UNHIDE', null),
    updateAction: (session, id, input, ifVersion) => updateAction(parts, session, id, input, ifVersion),
    deleteAction: (session, id) => deleteAction(parts, session, id),
    readModerationLog: (session, args) => readModerationLog(parts, session, args),
    upsertMembers: (identity, members) => upsertMembers(parts, identity, members),
    upsertRefs: (identity, refs) => upsertRefs(parts, identity, refs),
    renameRef: (identity, refId, label) => renameRef(parts, identity, refId, label),
    followMany: (identity, pairs) => followMany(parts, identity, pairs),
    unfollowMany: (identity, pairs, keepHistory) => unfollowMany(parts, identity, pairs, keepHistory),
    pinAction: (session, refId, actionId) => pinAction(parts, session, refId, actionId),
    unpinAction: (session, refId, actionId) => unpinAction(parts, session, refId, actionId),
    readPinned: (session, refId) => readPinned(session, refId),
    follow: (session, refId, copyLimit) => follow(parts, session, refId, copyLimit),
    unfollow: (session, refId, keepHistory) => unfollow(parts, session, refId, keepHistory),
    addMute: (session, target, until) => addMute(parts, session, target, until),
    removeMute: (session, target) => removeMute(parts, session, target),
    mute: (session, memberId) => mute(parts, session, memberId),
    unmute: (session, memberId) => unmute(parts, session, memberId),
    hideFeedItem: (session, id) => setItemState(parts, session, id, 'HIDDEN'),
    unhideFeedItem: (session, id) => clearItemState(parts, session, id, 'HIDDEN'),
    archiveFeedItem: (session, id) => archiveFeedItem(parts, session, id),
    unarchiveFeedItem: (session, id) => unarchiveFeedItem(parts, session, id),
    snoozeFeedItem: (session, id, until) => snoozeFeedItem(parts, session, id, until),
    unsnoozeFeedItem: (session, id) => unsnoozeFeedItem(parts, session, id),
    readHiddenItems: (session, args) => readHiddenItems(parts, session, args),
    markItemsRead: (session, ids) => markItemsRead(parts, session, ids),
    markItemsUnread: (session, ids) => markItemsUnread(parts, session, ids),
    bookmark: (session, id) => bookmark(parts, session, id),
    unbookmark: (session, id) => unbookmark(parts, session, id),
    readBookmarks: (session, args) => readBookmarks(parts, session, args),
    following: (session, args) => following(parts, session, args),
    markFeedRead: (session, upTo) => markFeedRead(parts, session, upTo),
    rebuildFeed: (identity, memberId) => rebuildFeed(parts, identity, memberId),
    rebuildFeeds: (identity) => rebuildFeeds(parts, identity),
    readFeed: (session, args) => readFeed(parts, session, args),
    readFeedGroups: (session, args) => readFeedGroups(parts, session, args),
    getFeedGroup: (session, groupKey) => getFeedGroup(parts, session, groupKey),
    countUnread: (session) => countUnread(parts, session),
    findFirstUnread: (session) => findFirstUnread(parts, session),
    readSlice: (session, refId, args) => readSlice(parts, session, refId, args),
    listActions: (session, args) => listActions(parts, session, args),
    getAction: (session, id) => getAction(session, id),
    getMember: (session, userId) => session.members.load(userId),
    readMember: (session, memberId) => readMember(session, memberId),
    readRef: (session, refId) => readRef(session, refId),
    getRef: (session, refId) => session.refs.load(refId),
    readFollowers: createFollowersReader(parts),
    getNewsfeedItem: (session, id) => getNewsfeedItem(parts, session, id),
    explainFeedItem: (session, id, memberId) => explainFeedItem(parts, session, id, memberId),
    eraseMember: (identity, memberId) =>
      eraseMember({ ...parts, timing: ERASURE_TIMING }, identity, memberId),
    readErasure: (identity, memberId) => readErasure(parts, identity, memberId),
    readHostEvents: (identity, args) => readHostEvents(parts, identity, args),
    listErasures: (identity, args) => listErasures(parts, identity, args),
    readWork: (identity) => readWork(parts, identity),
    exportMember: (session, memberId) => exportMember(parts, session, memberId),
    memberExport: (session, memberId) => memberExport(parts, session, memberId),
    watchFeed: (identity, args) => watchFeed(watching, identity, args),
  };
}
