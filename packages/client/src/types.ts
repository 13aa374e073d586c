import type { ClientFields } from './fields.ts';
import type {
  DeliveryReason,
  FeedFilter,
  FeedOrder,
  FeedState,
  NotificationFilter,
  NotificationKind,
  Scope,
} from './generated/mutation-inputs.ts';
import type { Added, DescriptorWith } from './own-types.ts';

/** An instant, ISO-8601 in UTC with milliseconds. Instants of this form sort as text. */
export type Instant = string;

export type {
  DeliveryReason,
  FeedFilter,
  FeedOrder,
  FeedState,
  NotificationFilter,
  NotificationKind,
  Scope,
} from './generated/mutation-inputs.ts';

/** Somebody whom a list names. */
export interface Person {
  readonly memberId: string;
  readonly name: string;
  /** Of a picture. */
  readonly imageUrl: string | null;
}

/** What happened, with the fields of each type that `fanfare schema --types` has written down. */
export type Descriptor = DescriptorWith<{
  readonly type: string;
  readonly summary: string;
  readonly tags: readonly string[];
}>;

/** An entry of a feed, as it is selected unless the client is given other `fields`. */
export type FeedItem = Added<'item'> & {
  readonly id: string;
  /** Its place in the feed: the later, the higher. */
  readonly relevancy: Instant;
  readonly reasons: readonly DeliveryReason[];
  readonly isUnread: boolean;
  readonly action: Added<'action'> & {
    readonly id: string;
    readonly conducted: Instant;
    readonly scope: Scope;
    readonly isHidden: boolean;
    readonly actor: Person;
    readonly refs: readonly { readonly refId: string; readonly type: string; readonly label: string }[];
    readonly descriptor: Descriptor;
    readonly content: ActionContent;
    readonly engagement: {
      readonly comments: number;
      readonly likes: number;
      readonly reshares: number;
      readonly lastInteraction: Instant | null;
    };
  };
};

/** Exact up to 100; beyond that `count` is 100 and `isExact` false. */
export interface UnreadCount {
  readonly count: number;
  readonly isExact: boolean;
}

/** A change of the feed. Every event carries the cursor from which to resume after it. */
export type FeedEvent<Item = FeedItem> = { readonly cursor: string } & (
  | { readonly __typename: 'FeedItemAdded'; readonly item: Item }
  /** The item as it is now: it has another relevancy. */
  | { readonly __typename: 'FeedItemUpdated'; readonly item: Item }
  | { readonly __typename: 'FeedItemRemoved'; readonly itemId: string; readonly actionId: string }
  | { readonly __typename: 'UnreadCountChanged'; readonly unread: UnreadCount }
);

/** Exact up to 1,000; beyond that `count` is that bound and `isExact` false. */
export interface Count {
  readonly count: number;
  readonly isExact: boolean;
}

export interface FeedPage<Item = FeedItem> {
  readonly edges: readonly { readonly cursor: string; readonly node: Item }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly endCursor: string | null;
    /** Whether it was asked for with `after`; of a page upwards, whether there is more above it. Absent: false. */
    readonly hasPreviousPage?: boolean;
  };
  readonly unread: UnreadCount;
  /** Entries of the feed with this filter, where it was asked for. */
  readonly total?: Count;
  readonly state: FeedState;
  /** `after` of a watch that brings everything the page has not. Good for as long as any cursor of events. */
  readonly liveCursor: string;
}

/** Words of a summary; of a person or a thing, with what to link to. */
export interface SummaryPart {
  readonly text: string;
  readonly member: { readonly memberId: string } | null;
  readonly ref: { readonly refId: string } | null;
}

/** A picture or file. */
export interface Media {
  readonly url: string;
  /** What a picture shows, or the name of a file; empty: it says nothing. */
  readonly alt: string;
  readonly kind: 'PICTURE' | 'FILE';
  /** In pixels; both are known, or none. */
  readonly width: number | null;
  readonly height: number | null;
  readonly blurhash: string | null;
}

/** A picture or file as it is published. */
export type MediaInput = Partial<Media> & { readonly url: string };

/** What an action shows below its sentence, whatever its type calls it. */
export interface ActionContent {
  readonly body: string | null;
  readonly rating: { readonly value: number; readonly max: number } | null;
  readonly media: readonly Media[];
}

/** What concerns the reader: events of one kind about one action, the followers of one day, or one assignment. */
export type Notification = Added<'notification'> & {
  readonly id: string;
  readonly kind: NotificationKind;
  /** Of its newest event, which is its place in the list. */
  readonly at: Instant;
  readonly isSeen: boolean;
  readonly isRead: boolean;
  readonly summary: string;
  readonly summaryParts: readonly SummaryPart[];
  /** The newest three. */
  readonly actors: readonly Person[];
  readonly actorCount: UnreadCount;
  /** Null for followers and assignments. */
  readonly action:
    | (Added<'action'> & {
        readonly id: string;
        readonly descriptor: DescriptorWith<{ readonly type: string; readonly summary: string }>;
      })
    | null;
  /** The newest; null if the newest event is none. */
  readonly interaction: (Added<'comment'> & { readonly id: string; readonly text: string | null }) | null;
};

/** Exact up to 100, like any UnreadCount. */
export interface NotificationCounts {
  /** With an event that the reader has not seen. */
  readonly unseen: UnreadCount;
  readonly unread: UnreadCount;
}

/** A change of the notifications. Every event carries the cursor from which to resume after it. */
export type NotificationEvent = { readonly cursor: string } & (
  | { readonly __typename: 'NotificationAdded'; readonly notification: Notification }
  /** The notification as it is now, which the list may not have had. */
  | { readonly __typename: 'NotificationUpdated'; readonly notification: Notification }
  | { readonly __typename: 'NotificationRemoved'; readonly notificationId: string }
  | ({ readonly __typename: 'NotificationCountsChanged' } & NotificationCounts)
);

export interface NotificationPage extends NotificationCounts {
  readonly edges: readonly { readonly cursor: string; readonly node: Notification }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  /** `after` of a watch that brings everything the page has not. */
  readonly liveCursor: string;
}

export interface NotificationQuery {
  /** Entries of the page, 1..100; default 25. */
  readonly first?: number;
  /** `pageInfo.endCursor` of the page before. */
  readonly after?: string;
  readonly filter?: NotificationFilter;
}

export interface FeedQuery {
  /** Entries of the page, 1..100; default 25. */
  readonly first?: number;
  /** `pageInfo.endCursor` of the page before. */
  readonly after?: string;
  /** Entries of the page above `before`, 1..100. Not beside `first` or `after`. */
  readonly last?: number;
  /** The cursor of the entry below the page. */
  readonly before?: string;
  /** The name of a view of the server's configuration, instead of the whole feed. */
  readonly view?: string;
  /** Id of a list of the reader, instead of the whole feed. Not beside `view`. */
  readonly listId?: string;
  readonly filter?: FeedFilter;
  /** Default RELEVANCY. A view has an order of its own. */
  readonly order?: FeedOrder;
  /** Also count the entries, which the server does for it. Default false. */
  readonly total?: boolean;
}

/** `live`: nothing from here on is missed. `waiting`: the connection was lost, the next attempt is due later. */
export type WatchState = 'connecting' | 'live' | 'waiting';

/**
 * Callbacks are called one at a time, in order; one that gives a promise is waited for. What one throws ends the watch,
 * and the event counts as not handed over. Only a FeedClientError that is temporary (of `feed`, while the server is
 * away) does not: the watch connects again and makes the same call again.
 */
export interface Watching<Event, Filter> {
  /** The cursor of the last event that was seen; absent: from now on. */
  readonly after?: string;
  readonly filter?: Filter;
  /** Also tell of the counts, by UnreadCountChanged or NotificationCountsChanged; the server counts for it. Default false. */
  readonly unread?: boolean;
  readonly onEvent: (event: Event) => void | Promise<void>;
  /**
   * Query the list now: events before this point are not vouched for, those after it follow. Without `after` it is called
   * once at the beginning, with the reason `opened`.
   * @param reason `opened`, or one of the server's: `invalid-cursor`, `log-lost`, `log-interrupted`, `window-passed`,
   * `buffer-overflow`; or what changed the list as a whole: `mutes`, `marks`, `membership`, `list`,
   * and of notifications `followers`
   * @param cursor where the events that follow begin
   */
  readonly onResync: (reason: string, cursor: string) => void | Promise<void>;
  /** @param cause why it is `waiting` */
  readonly onState?: (state: WatchState, cause?: Error) => void;
  /** Ends the watch: connection and timers at once, callbacks after the one under way. */
  readonly signal?: AbortSignal;
}

/** A view, or a list of the reader; then the counts are of that. */
export type OfList = Pick<FeedQuery, 'view' | 'listId'>;
export type WatchOptions<Item = FeedItem> = Watching<FeedEvent<Item>, FeedFilter> & OfList;
export type NotificationWatchOptions = Watching<NotificationEvent, NotificationFilter>;

/** Which list a watch is of, where there are several. */
export interface WatchedList extends OfList {
  /** Of a slice: the thing, or the actor. */
  readonly refId?: string;
  /** Of a thread: global id of the action. */
  readonly actionId?: string;
}

/** A constructor such as the global WebSocket or that of the package `ws`. */
export type WebSocketConstructor = new (
  url: string,
  protocols?: string | string[],
) => {
  readonly readyState: number;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: (event: object) => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
};

export interface FeedClientOptions {
  /** Of the GraphQL endpoint, such as https://example.com/graphql; in a browser it may be relative. */
  readonly url: string;
  /** What events come by; default `websocket`. */
  readonly transport?: 'websocket' | 'sse';
  /**
   * The JWT, without "Bearer". A function is asked before every connection and every query, and once more when the server
   * refuses what it gave; it is then handed the refused token. While it throws, a watch waits and asks again.
   */
  readonly token: string | ((refused?: string) => string | Promise<string>);
  /** For a token with the role `operator`: the tenant that everything is done in. */
  readonly tenant?: string;
  /**
   * What is selected beyond what the client selects itself; as a text: the whole selection on NewsfeedItem, without braces,
   * instead of what FeedItem has.
   */
  readonly fields?: string | ClientFields;
  /** Attempts in a row that may fail before a watch gives up; default: it never does. */
  readonly retries?: number;
  /** The wait before the first and the longest wait before any further attempt, in ms; default 500 and 30 000. */
  readonly backoff?: { readonly firstMs?: number; readonly maxMs?: number };
  /**
   * A connection from which nothing comes for so long is taken for dead, and the token function is not waited for any
   * longer, in ms; default 30 000. Over SSE it must be longer than the 12 s between the server's pings.
   */
  readonly timeoutMs?: number;
  /** For Node before 22, which has none: `WebSocket` of the package `ws`. */
  readonly webSocket?: WebSocketConstructor;
}
