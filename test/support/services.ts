import type { Core } from '../../src/services/core.ts';
import * as hostEvents from '../../src/services/events/host-events.ts';
import * as webhooks from '../../src/services/events/webhooks.ts';
import * as readGroups from '../../src/services/feed/groups/read-groups.ts';
import * as bookmarks from '../../src/services/feed/items/bookmarks.ts';
import * as explainItem from '../../src/services/feed/items/explain-item.ts';
import * as getItem from '../../src/services/feed/items/get-item.ts';
import * as itemState from '../../src/services/feed/items/item-state.ts';
import * as markItems from '../../src/services/feed/items/mark-items.ts';
import * as resharedBy from '../../src/services/feed/items/reshared-by.ts';
import * as snoozeItem from '../../src/services/feed/items/snooze-item.ts';
import * as watchFeed from '../../src/services/feed/live/watch-feed.ts';
import * as readActions from '../../src/services/feed/read-actions.ts';
import * as readPage from '../../src/services/feed/read-page.ts';
import * as rebuildFeed from '../../src/services/feed/rebuild-feed.ts';
import * as countUnread from '../../src/services/feed/unread/count-unread.ts';
import * as firstUnread from '../../src/services/feed/unread/first-unread.ts';
import * as markRead from '../../src/services/feed/unread/mark-read.ts';
import * as follow from '../../src/services/follow/follow.ts';
import * as followers from '../../src/services/follow/followers.ts';
import * as following from '../../src/services/follow/following.ts';
import * as mutes from '../../src/services/follow/mutes.ts';
import * as unfollowMany from '../../src/services/follow/unfollow-many.ts';
import * as unfollow from '../../src/services/follow/unfollow.ts';
import * as addInteraction from '../../src/services/interactions/add-interaction.ts';
import * as findInteraction from '../../src/services/interactions/find-interaction.ts';
import * as moderateInteraction from '../../src/services/interactions/moderate-interaction.ts';
import * as readInteractions from '../../src/services/interactions/read-interactions.ts';
import * as removeInteraction from '../../src/services/interactions/remove-interaction.ts';
import * as offloadActions from '../../src/services/lifecycle/offload-actions.ts';
import * as restoreActions from '../../src/services/lifecycle/restore-actions.ts';
import * as directory from '../../src/services/members/directory.ts';
import * as readDirectory from '../../src/services/members/read-directory.ts';
import * as renameRef from '../../src/services/members/rename-ref.ts';
import * as moderateAction from '../../src/services/moderation/moderate-action.ts';
import * as pinAction from '../../src/services/moderation/pin-action.ts';
import * as retryFanOut from '../../src/services/moderation/retry-fan-out.ts';
import * as readWork from '../../src/services/operations/read-work.ts';
import * as eraseMember from '../../src/services/privacy/erase-member.ts';
import * as exportMember from '../../src/services/privacy/export-member.ts';
import * as listErasures from '../../src/services/privacy/list-erasures.ts';
import * as publishAction from '../../src/services/publish/publish-action.ts';
import * as updateAction from '../../src/services/publish/update-action.ts';
import * as openSession from '../../src/services/session/open-session.ts';
import * as allOfTenant from '../../src/services/tenants/all-of-tenant.ts';

/** Modules with use cases that take the core. */
const MODULES = {
  ...hostEvents,
  ...webhooks,
  ...readGroups,
  ...bookmarks,
  ...explainItem,
  ...getItem,
  ...itemState,
  ...markItems,
  ...snoozeItem,
  ...watchFeed,
  ...readActions,
  ...readPage,
  ...rebuildFeed,
  ...countUnread,
  ...firstUnread,
  ...markRead,
  ...follow,
  ...followers,
  ...following,
  ...mutes,
  ...unfollowMany,
  ...unfollow,
  ...addInteraction,
  ...findInteraction,
  ...moderateInteraction,
  ...readInteractions,
  ...removeInteraction,
  ...offloadActions,
  ...restoreActions,
  ...directory,
  ...readDirectory,
  ...renameRef,
  ...moderateAction,
  ...pinAction,
  ...retryFanOut,
  ...readWork,
  ...eraseMember,
  ...exportMember,
  ...listErasures,
  ...publishAction,
  ...updateAction,
  ...openSession,
  ...allOfTenant,
};

const { getAction } = readActions;
const { listInteractions } = readInteractions;
const { readMember } = readDirectory;
const { readPinned } = pinAction;

/** Use cases that need only the session. */
const OF_SESSION = { getAction, listInteractions, readMember, readPinned, ...resharedBy };

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
