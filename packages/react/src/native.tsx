'use client';

import { useMemo, type ReactNode } from 'react';
import { ProviderWith, type FanfareProviderProps } from './provider.tsx';
import { nativeLife, type AppStateLike, type NetInfoLike } from './store/native-life.ts';

// The hooks without a page: nothing here draws, and nothing needs a document.
export { createFanfareClient, FanfareWords, useLanguage, useReader } from './provider.tsx';
export {
  useConnection,
  useFeed,
  useFeedAction,
  useFeedEvents,
  useQuery,
  useReadMark,
  useUnreadCount,
  type Feed as FeedState,
} from './hooks/feed.ts';
export { useBlock, useBookmark, useEngagement, useFollow, useItemActions, useReport } from './hooks/item.ts';
export { useClient, usePublish, type Published, type PublishOptions } from './hooks/publish.ts';
export { relativeTime, useRelativeTime } from './hooks/relative-time.ts';
export { useInteractions } from './hooks/comments.ts';
export {
  useBookmarks,
  useExplain,
  useFeedGroups,
  useHidden,
  useInReview,
  useSlice,
  type FanfareGroup,
} from './hooks/lists.ts';
export { useMembers } from './hooks/members.ts';
export { useLists, useListsOf, useMutes, usePreferences, useViews } from './hooks/settings.ts';
export {
  useNotifications,
  useOnNotification,
  type Notifications as NotificationsState,
} from './hooks/notifications.ts';
export { useWords } from './hooks/words.ts';
export { german } from './german.ts';
export type { Words } from './more-words.ts';
export type { ActionContent, FanfareAction, FanfareItem, Media, SummaryPart } from './item.ts';
export type { Undo } from './store/undos.ts';
export type { AppStateLike, NetInfoLike } from './store/native-life.ts';

/** What the one for pages takes, without what only tabs have. */
export type NativeProviderProps = FanfareProviderProps & {
  readonly tabs?: never;
  /** `AppState` of react-native. */
  readonly appState: AppStateLike;
  /** The default export of @react-native-community/netinfo. Without it a lost connection is tried again now and then. */
  readonly netInfo?: NetInfoLike;
};

/** Gives one reader's feed to what is inside, as long as the app is in front and has a network. */
export function FanfareProvider({ appState, netInfo, ...props }: NativeProviderProps): ReactNode {
  const life = useMemo(() => nativeLife(appState, netInfo), [appState, netInfo]);
  return <ProviderWith props={{ ...props, tabs: 'own' }} life={life} />;
}
