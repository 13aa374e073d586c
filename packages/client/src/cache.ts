/** For caches of other libraries, such as those of @fanfare/apollo and @fanfare/urql. */
export { cacheDocuments, POSSIBLE_TYPES } from './cache/documents.ts';
export type { Fields } from './fields.ts';
export type { FeedMutations } from './mutation-types.ts';
export {
  afterFeedEvent,
  afterNotificationEvent,
  beginOf,
  eventsOf,
  FeedStart,
  inReviewIn,
  listIn,
  moves,
  orderOf,
  unknownFields,
  watchedOf,
  without,
  withFirst,
  type CachedAction,
  type CachedComment,
  type CachedFeedEvent,
  type CachedFeedPage,
  type CachedGroup,
  type CachedItem,
  type CachedNotification,
  type CachedNotificationEvent,
  type CachedPage,
  type Deeds,
  type DefaultFields,
  type FeedList,
  type FeedOptions,
  type FeedVariables,
  type ListAnswer,
  type ListVariables,
  type NotificationList,
  type NotificationsPage,
  type OtherLists,
  type PagedList,
  type ShownFields,
  type Starts,
  type Watched,
} from './cache/lists.ts';
export {
  createCacheSource,
  type CacheSource,
  type CacheSourceOptions,
  type Forgetting,
} from './cache/source.ts';
export { deedOf, type CachedList, type CacheWrite, type Sent } from './cache/waiting.ts';
