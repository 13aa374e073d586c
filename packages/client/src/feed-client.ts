import type { ClientFields } from './fields.ts';
import type { FeedMutations } from './mutation-types.ts';
import type { Request } from './request.ts';
import type { ActionWatchOptions, SliceWatchOptions } from './list-types.ts';
import type {
  FeedItem,
  FeedPage,
  FeedQuery,
  NotificationPage,
  NotificationQuery,
  NotificationWatchOptions,
  WatchOptions,
} from './types.ts';

export interface FeedClient<Item = FeedItem> {
  /**
   * Follows the reader's feed through lost connections, restarts of the server and tokens that end. Each event comes
   * exactly once and in order, or `onResync` says that this cannot be vouched for.
   * @returns when the signal has ended it; rejects with what a callback threw, or with a FeedClientError that waiting
   * cannot mend: UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT, PROTOCOL, or the last one after `retries`
   */
  watch(options: WatchOptions<Item>): Promise<void>;
  /** A page of the reader's feed. Rejects with a FeedClientError. */
  feed(query?: FeedQuery, signal?: AbortSignal): Promise<FeedPage<Item>>;
  /** Follows the reader's notifications in the same way, and over the same socket. */
  watchNotifications(options: NotificationWatchOptions): Promise<void>;
  /** A page of the reader's notifications. Rejects with a FeedClientError. */
  notifications(query?: NotificationQuery, signal?: AbortSignal): Promise<NotificationPage>;
  /** Follows the actions of a thing or of an actor in the same way: what `slice` lists. */
  watchSlice(options: SliceWatchOptions): Promise<void>;
  /** Follows an action and its interactions in the same way. Rejects with NOT_FOUND if the reader may not see it. */
  watchAction(options: ActionWatchOptions): Promise<void>;
  /** What it was made with; a text as `base`. */
  readonly fields: ClientFields;
  /**
   * Any other query or mutation, by `fetch`; gives its `data`. Rejects with a FeedClientError, with the first of the
   * errors where the answer has some.
   */
  readonly request: Request;
  /** The changes a reader makes. */
  readonly mutations: FeedMutations;
  /**
   * Aborted when the token function has begun to answer for another reader, or the client is closed. What was under way for the
   * first one has ended, and rejects with a FeedClientError READER_CHANGED or CLOSED; what comes from then on is the other's.
   */
  readonly reader: AbortSignal;
  /** The language in which the server writes sentences for this reader, for `lang`; undefined before its first answer. */
  readonly language: string | undefined;
  /** Ends everything for good, such as when the reader signs out. */
  close(): void;
}
