'use client';

export { FanfareProvider, type FanfareProviderProps } from './provider.tsx';
export { Avatar, leaderOf } from './parts/avatar.tsx';
export { Content } from './parts/content.tsx';
export * as Feed from './parts/feed-parts.ts';
export { FollowButton } from './parts/follow.tsx';
export { Reactions, Summary, Time } from './parts/item.tsx';
export { ConnectionNotice, UndoToast, UnreadBadge } from './parts/frame.tsx';
export { ACTION_FIELDS as feedActionFields, feedItemFields } from './item.ts';
export type { Reader } from './store/reader.ts';
export type { FeedSnapshot } from './store/feed-options.ts';
