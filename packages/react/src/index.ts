'use client';

export { FanfareProvider, createFanfareClient, useReader, type FanfareProviderProps } from './provider.tsx';
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
export { Avatar, leaderOf } from './parts/avatar.tsx';
export { Content } from './parts/content.tsx';
export { Feed } from './parts/feed.tsx';
export { FollowButton, Reactions, Summary, Time } from './parts/item.tsx';
export { ConnectionNotice, UndoToast, UnreadBadge } from './parts/frame.tsx';
export type { Words } from './more-words.ts';
export { ACTION_FIELDS as feedActionFields, feedItemFields } from './item.ts';
export type { ActionContent, FanfareAction, FanfareItem, Media, SummaryPart } from './item.ts';
export type { Undo } from './store/undos.ts';
export type { Reader } from './store/reader.ts';
export type { FeedOptions, FeedSnapshot } from './store/feed-options.ts';
