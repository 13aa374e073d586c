'use client';

// The same of what not every page needs.
export { FanfareWords, useLanguage } from './provider.tsx';
export { useWords } from './hooks/words.ts';
export { german } from './german.ts';
export { english } from './more-words.ts';
export { useInteractions } from './hooks/comments.ts';
export {
  useBookmarks,
  useExplain,
  useFeedGroups,
  useHidden,
  useInReview,
  useSlice,
  type ActionFilter,
  type Explanation,
  type FanfareGroup,
} from './hooks/lists.ts';
export { useLists, useListsOf, useMutes, usePreferences, useViews } from './hooks/settings.ts';
export type { CountedList, CountedView } from './store/own-lists.ts';
export type { Mute, PreferenceChange } from './store/standings.ts';
export {
  useNotifications,
  useOnNotification,
  type Notifications as NotificationsState,
} from './hooks/notifications.ts';
export type { NotificationOptions } from './store/notification-store.ts';
export { useMembers } from './hooks/members.ts';
