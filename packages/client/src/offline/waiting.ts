import type { FeedMutations } from '../mutation-types.ts';

/** What may wait: it says what is so, or has a key, so that sent twice it happens once. */
export const WAITING = [
  ...(['addInteraction', 'removeInteraction', 'bookmark', 'unbookmark'] as const),
  ...(['markFeedRead', 'markItemsRead', 'markItemsUnread'] as const),
  ...(['markNotificationsSeen', 'markNotificationsRead', 'follow', 'unfollow'] as const),
  ...(['hideFeedItem', 'unhideFeedItem', 'archiveFeedItem', 'unarchiveFeedItem'] as const),
  ...(['snoozeFeedItem', 'unsnoozeFeedItem'] as const),
] as const satisfies readonly (keyof FeedMutations)[];

export type WriteName = (typeof WAITING)[number];
