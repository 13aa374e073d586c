export { createFeedClient } from './create-feed-client.ts';
export { FeedClientError } from './errors.ts';
export { ACTION_STATE as ACTION_STATE_FIELDS, INTERACTION as INTERACTION_FIELDS } from './mutations.ts';
export type {
  ActionState,
  AddInteractionInput,
  FeedMutations,
  FollowState,
  Interaction,
  InteractionChange,
  InteractionKind,
  MuteTarget,
  PublishActionInput,
  ReactionCount,
  RefInput,
  RemoveInteractionInput,
} from './mutation-types.ts';
export type { FeedClient } from './feed-client.ts';
export type { Request } from './request.ts';
export type {
  Count,
  DeliveryReason,
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
