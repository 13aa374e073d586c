import type { ActionId, RefId, UserId } from '../domain/action.ts';
import type { InteractionId } from '../domain/interaction.ts';
import type { Identity } from '../domain/viewer.ts';
import { upsertMembers, upsertRefs } from './members/directory.ts';
import { readMember, readRef } from './members/read-directory.ts';
import { createFollowersReader } from './follow/followers.ts';
import { eraseMember, readErasure } from './privacy/erase-member.ts';
import { exportMember, memberExport } from './privacy/export-member.ts';
import { explainFeedItem } from './feed/items/explain-item.ts';
import { findFirstUnread } from './feed/unread/first-unread.ts';
import { follow, followMany } from './follow/follow.ts';
import { following } from './follow/following.ts';
import { bookmark, readBookmarks, unbookmark } from './feed/items/bookmarks.ts';
import {
  archiveFeedItem,
  hideFeedItem,
  readHiddenItems,
  unarchiveFeedItem,
  unhideFeedItem,
} from './feed/items/item-state.ts';
import { snoozeFeedItem, unsnoozeFeedItem } from './feed/items/snooze-item.ts';
import { markItemsRead, markItemsUnread } from './feed/items/mark-items.ts';
import { addMute, removeMute } from './follow/mutes.ts';
import { unfollow } from './follow/unfollow.ts';
import { unfollowMany } from './follow/unfollow-many.ts';
import { deleteAction, readModerationLog, setHidden } from './moderation/moderate-action.ts';
import { pinAction, readPinned, unpinAction } from './moderation/pin-action.ts';
import { readHostEvents } from './events/host-events.ts';
import { listWebhookDeliveries, retryWebhook } from './events/webhooks.ts';
import { listErasures } from './privacy/list-erasures.ts';
import { readWork } from './operations/read-work.ts';
import {
  claimOffloaded,
  purgeOffloaded,
  readLeaving,
  readOffloadable,
  readDocumentShape,
  takeOut,
} from './lifecycle/offload-actions.ts';
import { restoreActions } from './lifecycle/restore-actions.ts';
import { markFeedRead } from './feed/unread/mark-read.ts';
import { publishAction, publishActions } from './publish/publish-action.ts';
import { updateAction } from './publish/update-action.ts';
import { getAction, listActions, readSlice } from './feed/read-actions.ts';
import { createFeedGroupReader, readFeedGroups } from './feed/groups/read-groups.ts';
import { countUnread } from './feed/unread/count-unread.ts';
import { createItemReader } from './feed/items/get-item.ts';
import { readFeed } from './feed/read-page.ts';
import type { ReaderSession } from './session/reader-session.ts';
import { resharedBy } from './feed/items/reshared-by.ts';
import { readFeedState, rebuildFeed, rebuildFeeds } from './feed/rebuild-feed.ts';
import { renameRef } from './members/rename-ref.ts';
import { addInteraction } from './interactions/add-interaction.ts';
import { getInteraction } from './interactions/find-interaction.ts';
import { setInteractionHidden, updateInteraction } from './interactions/moderate-interaction.ts';
import { latestInteractions, listInteractions } from './interactions/read-interactions.ts';
import { removeInteraction } from './interactions/remove-interaction.ts';
import { retryFanOut } from './moderation/retry-fan-out.ts';
import { bound } from './bound.ts';
import type { Core } from './core.ts';
import { openSession } from './session/open-session.ts';
import { eraseTenant, exportTenant, listTenants } from './tenants/all-of-tenant.ts';
import { watchFeed } from './feed/live/watch-feed.ts';

/** The use cases with their core bound. */
export type Services = ReturnType<typeof createServices>;

/**
 * Binds the use cases to their core. Each use case checks roles itself and throws FanfareError with an error code of
 * the API; callers without an identity are rejected earlier. Behaviour and errors are documented at each function.
 */
export function createServices(core: Core) {
  return {
    /** Loaders and profile for one request; must not be kept longer. */
    openSession: (identity: Identity) => openSession(core, identity),
    /** The same for one live event; shares loads with other events rendered at the same time. */
    openEventSession: core.openEventSession,
    /** For clients that cannot send headers. */
    createTicket: (identity: Identity) => core.tickets.sign(identity),
    /** The identity a ticket was made for, valid until the original token expires. Rejects with UNAUTHENTICATED. */
    readTicket: (ticket: string, tenant?: string) => core.tickets.read(ticket, tenant),

    /** Converts cursors between their internal form and the form given to clients. */
    cursors: core.cursors,

    ...bound(core, {
      publishAction,
      publishActions,
      retryFanOut,
      addInteraction,
      removeInteraction,
      updateInteraction,
      getInteraction,
      latestInteractions,
      updateAction,
      deleteAction,
      readModerationLog,
      upsertMembers,
      upsertRefs,
      renameRef,
      followMany,
      unfollowMany,
      pinAction,
      unpinAction,
      follow,
      unfollow,
      addMute,
      removeMute,
      hideFeedItem,
      unhideFeedItem,
      archiveFeedItem,
      unarchiveFeedItem,
      snoozeFeedItem,
      unsnoozeFeedItem,
      readHiddenItems,
      markItemsRead,
      markItemsUnread,
      bookmark,
      unbookmark,
      readBookmarks,
      following,
      readRef,
      markFeedRead,
      readFeedState,
      rebuildFeed,
      rebuildFeeds,
      readFeed,
      readFeedGroups,
      countUnread,
      findFirstUnread,
      readSlice,
      listActions,
      explainFeedItem,
      readErasure,
      readHostEvents,
      listWebhookDeliveries,
      retryWebhook,
      listErasures,
      readWork,
      readDocumentShape,
      readOffloadable,
      claimOffloaded,
      takeOut,
      readLeaving,
      purgeOffloaded,
      restoreActions,
      exportMember,
      memberExport,
      listTenants,
      eraseTenant,
      exportTenant,
    }),
    ...bound(core, { eraseMember }),
    ...bound(core, { watchFeed }),
    readFollowers: createFollowersReader(core),
    getFeedGroup: createFeedGroupReader(core),
    getNewsfeedItem: createItemReader(core),

    // Use cases that need only the session.
    getAction,
    listInteractions,
    readMember,
    readPinned,
    resharedBy,
    getMember: (session: ReaderSession, userId: UserId) => session.members.load(userId),
    /** Includes refs known only from being followed. */
    getRef: async (session: ReaderSession, refId: RefId) =>
      (await session.refs.load(refId)) ?? readRef(core, session, refId),

    hideInteraction: (session: ReaderSession, id: InteractionId, reason: Reason) =>
      setInteractionHidden(core, session, id, { kind: 'HIDE_INTERACTION', reason }),
    unhideInteraction: (session: ReaderSession, id: InteractionId) =>
      setInteractionHidden(core, session, id, { kind: 'UNHIDE_INTERACTION', reason: null }),
    hideAction: (session: ReaderSession, id: ActionId, reason: Reason) =>
      setHidden(core, session, id, 'HIDE', reason),
    unhideAction: (session: ReaderSession, id: ActionId) => setHidden(core, session, id, 'UNHIDE', null),
  };
}

/** Moderator's reason, for the log. */
type Reason = string | null | undefined;
