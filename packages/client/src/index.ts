export { createFeedClient } from './create-feed-client.ts';
export { FeedClientError } from './errors.ts';
export type {
  DeliveryReason,
  FeedClient,
  FeedClientOptions,
  FeedEvent,
  FeedFilter,
  FeedItem,
  FeedOrder,
  FeedPage,
  FeedQuery,
  FeedState,
  Instant,
  Scope,
  UnreadCount,
  WatchOptions,
  WatchState,
  WebSocketConstructor,
} from './types.ts';
