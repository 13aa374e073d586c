'use client';

// Not every page needs these: they are not part of what all pages load.
export { FanfareWords, useLanguage } from './provider.tsx';
export { useWords } from './hooks/words.ts';
export { german } from './german.ts';
export { english } from './more-words.ts';
export { useInteractions } from './hooks/comments.ts';
export { useAutoRead } from './hooks/auto-read.ts';
export { useImpressions } from './hooks/impressions.ts';
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
export { useMembers } from './hooks/members.ts';
export { CommentThread } from './parts/comments.tsx';
export { Composer } from './parts/composer.tsx';
export { Find } from './parts/find.tsx';
export { focusOutside } from './parts/focus.ts';
export { InboxPopover } from './parts/inbox.tsx';
export { ItemMenu } from './parts/menu.tsx';
export { ListPicker } from './parts/list-picker.tsx';
export { Notifications } from './parts/notifications.tsx';
export type { NotificationOptions } from './store/notification-store.ts';
