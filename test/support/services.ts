import type { ActionId } from '../../src/domain/action.ts';
import type { Core } from '../../src/core/core.ts';
import type { ReaderSession } from '../../src/feed/session/reader-session.ts';
import * as hostEvents from '../../parts/events/src/host-events.ts';
import * as webhooks from '../../parts/webhooks/src/use-cases.ts';
import * as readGroups from '../../src/feed/groups/read-groups.ts';
import * as bookmarks from '../../parts/bookmarks/src/use-cases.ts';
import * as explainItem from '../../parts/explain/src/explain-item.ts';
import * as getItem from '../../src/feed/page/get-item.ts';
import * as itemStates from '../../src/features/marks/marks.ts';
import * as watchFeed from '../../src/feed/watch/watch-feed.ts';
import * as readActions from '../../src/feed/page/read-actions.ts';
import * as readPage from '../../src/feed/page/read-page.ts';
import * as rebuildFeed from '../../src/features/rebuild/rebuild-feed.ts';
import * as unread from '../../src/feed/page/unread.ts';
import * as follow from '../../src/features/follow/follow.ts';
import * as followers from '../../src/features/follow/followers.ts';
import * as lists from '../../src/features/lists/lists.ts';
import * as impressions from '../../src/features/impressions/impressions.ts';
import * as mutes from '../../src/features/mutes/mutes.ts';
import * as unfollowMany from '../../src/features/follow/unfollow.ts';
import * as unfollow from '../../src/features/follow/unfollow.ts';
import * as addInteraction from '../../src/features/interactions/add-interaction.ts';
import * as moderateInteraction from '../../src/features/interactions/moderate-interaction.ts';
import * as readInteractions from '../../src/features/interactions/read-interactions.ts';
import * as removeInteraction from '../../src/features/interactions/remove-interaction.ts';
import * as directory from '../../src/features/directory/directory.ts';
import * as blocks from '../../src/features/blocks/blocks.ts';
import * as reports from '../../src/features/reports/reports.ts';
import * as directorySearch from '../../src/features/directory/search.ts';
import * as readDirectory from '../../src/features/directory/read-directory.ts';
import * as moderateAction from '../../src/features/moderation/moderate-action.ts';
import * as pinAction from '../../src/features/moderation/pin-action.ts';
import * as readWork from '../../src/features/operations/read-work.ts';
import * as retryFanOut from '../../src/features/operations/retry-fan-out.ts';
import * as eraseMember from '../../parts/erasure/src/erase-member.ts';
import * as exportMember from '../../parts/erasure/src/export-member.ts';
import * as publishAction from '../../src/features/publish/publish-action.ts';
import * as scheduledActions from '../../src/features/publish/scheduled-actions.ts';
import * as updateAction from '../../src/features/publish/update-action.ts';
import * as markNotifications from '../../parts/notifications/src/mark-notifications.ts';
import * as notifications from '../../parts/notifications/src/read-notifications.ts';
import * as watchNotifications from '../../parts/notifications/src/watch-notifications.ts';
import * as preferences from '../../parts/notifications/src/preferences.ts';
import * as explainNotification from '../../parts/notifications/src/explain-notification.ts';
import * as push from '../../parts/web-push/src/register.ts';
import * as openSession from '../../src/feed/session/open-session.ts';
import * as allOfTenant from '../../parts/tenants/src/all-of-tenant.ts';

/** What the API calls the changes of states. */
const changesOfItems = {
  hideFeedItem: (...of: Changing) => itemStates.setItemState(...of, 'HIDDEN'),
  unhideFeedItem: (...of: Changing) => itemStates.clearItemState(...of, 'HIDDEN'),
  archiveFeedItem: (...of: Changing) => itemStates.setItemState(...of, 'ARCHIVED'),
  unarchiveFeedItem: (...of: Changing) => itemStates.clearItemState(...of, 'ARCHIVED'),
  snoozeFeedItem: (core: Core, session: ReaderSession, actionId: ActionId, until: Date) =>
    itemStates.setItemState(core, session, actionId, 'SNOOZED', until),
  unsnoozeFeedItem: (...of: Changing) => itemStates.clearItemState(...of, 'SNOOZED'),
};
type Changing = [core: Core, session: ReaderSession, actionId: ActionId];

/** Modules with use cases that take the core. */
const MODULES = {
  ...hostEvents,
  ...webhooks,
  ...readGroups,
  ...bookmarks,
  ...markNotifications,
  ...notifications,
  ...preferences,
  ...watchNotifications,
  ...explainNotification,
  ...push,
  ...explainItem,
  ...getItem,
  ...itemStates,
  ...changesOfItems,
  ...watchFeed,
  ...readActions,
  ...readPage,
  ...rebuildFeed,
  ...unread,
  ...follow,
  ...followers,
  ...lists,
  ...impressions,
  ...mutes,
  ...unfollowMany,
  ...unfollow,
  ...addInteraction,
  ...moderateInteraction,
  ...readInteractions,
  ...removeInteraction,
  ...directory,
  ...blocks,
  ...reports,
  ...directorySearch,
  ...readDirectory,
  ...moderateAction,
  ...pinAction,
  ...readWork,
  ...retryFanOut,
  ...eraseMember,
  ...exportMember,
  ...publishAction,
  ...scheduledActions,
  ...updateAction,
  ...openSession,
  ...allOfTenant,
};

const { getAction } = readActions;
const { getInteraction, listInteractions, resharedBy } = readInteractions;
const { getRef, readMember, readRef } = readDirectory;
const { readPinned } = pinAction;

/** Use cases that need only the session. */
const OF_SESSION = {
  ...{ getAction, getInteraction, getRef },
  ...{ listInteractions, readMember, readPinned, readRef, resharedBy },
};

type UseCase = (core: Core, ...args: never[]) => unknown;
type Modules = typeof MODULES;

/** The use case without the core. */
type Bound<F> = F extends (core: Core, ...args: infer Args) => infer Result
  ? (...args: Args) => Result
  : never;

/** Use cases in the short form of tests: `services.bookmark(session, id)`. */
export type Services = typeof OF_SESSION &
  Pick<Core, 'cursors'> & {
    readonly [Name in keyof Modules as Modules[Name] extends UseCase ? Name : never]: Bound<Modules[Name]>;
  };

export function servicesOf(core: Core): Services {
  const bound = Object.entries(MODULES).flatMap(([name, member]) =>
    typeof member === 'function'
      ? [[name, (...args: never[]) => (member as UseCase)(core, ...args)] as const]
      : [],
  );
  return { ...Object.fromEntries(bound), ...OF_SESSION, cursors: core.cursors } as Services;
}
