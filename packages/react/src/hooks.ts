'use client';

// What pages and apps have alike. By their names: of a module that is marked so, frameworks take no `export *`.
export { createFanfareClient, useReader } from './provider.tsx';
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
export { useBookmark, useEngagement } from './hooks/engagement.ts';
export { useBlock, useFollow, useItemActions, useReport } from './hooks/item.ts';
export { useClient, usePublish, type Published, type PublishOptions } from './hooks/publish.ts';
export { relativeTime, useRelativeTime } from './hooks/relative-time.ts';
export type { Words } from './more-words.ts';
export type { ActionContent, FanfareAction, FanfareItem, Media, SummaryPart } from './item.ts';
export type { Undo } from './store/undos.ts';
export type { FeedOptions } from './store/feed-options.ts';
