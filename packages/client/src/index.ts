export { createFeedClient } from './create-feed-client.ts';
export { FeedClientError } from './errors.ts';
export { ACTION_STATE as ACTION_STATE_FIELDS, INTERACTION as INTERACTION_FIELDS } from './mutations.ts';
export { CONTENT as CONTENT_FIELDS, itemFields, PERSON as PERSON_FIELDS } from './documents.ts';
export type { ClientFields, Fields } from './fields.ts';
export type * from './own-types.ts';
export type {
  ActionFilter,
  ActionState,
  AddInteractionInput,
  Channel,
  FeedMutations,
  FeedKey,
  ReaderList,
  FollowState,
  Interaction,
  InteractionChange,
  InteractionKind,
  MuteTarget,
  NotificationPreference,
  NotificationPreferenceInput,
  PublishActionInput,
  QuietHours,
  ReactionCount,
  RefInput,
  RemoveInteractionInput,
  ReportInput,
  UpdateActionInput,
} from './mutation-types.ts';
export type {
  ActionEvent,
  ActionWatchOptions,
  ListedAction,
  SliceEvent,
  SliceWatchOptions,
} from './list-types.ts';
export type { FeedClient } from './feed-client.ts';
export type { Request } from './request.ts';
export type {
  ActionContent,
  Count,
  DeliveryReason,
  Descriptor,
  FeedClientOptions,
  FeedEvent,
  FeedFilter,
  FeedItem,
  FeedOrder,
  FeedPage,
  FeedQuery,
  FeedState,
  Instant,
  Media,
  MediaInput,
  Notification,
  NotificationCounts,
  NotificationEvent,
  NotificationFilter,
  NotificationKind,
  NotificationPage,
  NotificationQuery,
  NotificationWatchOptions,
  Person,
  Scope,
  SummaryPart,
  UnreadCount,
  Watching,
  WatchOptions,
  WatchState,
  WebSocketConstructor,
} from './types.ts';
