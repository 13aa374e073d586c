import type { Added, DescriptorWith } from '../own-types.ts';
import type { Request } from '../request.ts';
import type { OfList, WatchedList } from '../types.ts';

/** What a cache keeps of the API, with the names of the types, and how events change it. */

type Of<Name extends string, Value> = { readonly __typename: Name } & Value;

/** What the screens show beyond what a cache has to have, as `fields` select it. */
export interface ShownFields {
  readonly action: object;
  readonly item: object;
  readonly comment: object;
  readonly notification: object;
}

export interface DefaultFields {
  readonly action: Added<'action'> & {
    readonly descriptor: DescriptorWith<{ readonly type: string; readonly summary: string }>;
  };
  readonly item: Added<'item'>;
  readonly comment: Added<'comment'>;
  readonly notification: Added<'notification'>;
}

export type CachedAction<Shown extends ShownFields = DefaultFields> = Of<
  'Action',
  {
    readonly id: string;
    readonly conducted: string;
    readonly engagement: Of<'Engagement', { readonly likes: number; readonly comments: number }>;
    readonly viewer: Of<'ActionViewer', { readonly hasLiked: boolean; readonly isBookmarked: boolean }>;
  } & Shown['action']
>;

export type CachedItem<Shown extends ShownFields = DefaultFields> = Of<
  'NewsfeedItem',
  {
    readonly id: string;
    /** Its place in the feed: the later, the higher. */
    readonly relevancy: string;
    readonly isUnread: boolean;
    readonly action: CachedAction<Shown>;
  } & Shown['item']
>;

export type CachedComment<Shown extends ShownFields = DefaultFields> = Of<
  'Interaction',
  {
    readonly id: string;
    readonly text: string | null;
    readonly at: string;
    /** HIDDEN: it waits for review, or the reader is a moderator. */
    readonly state: 'VISIBLE' | 'HIDDEN' | 'REMOVED';
    readonly action: Of<'Action', { readonly id: string }>;
  } & Shown['comment']
>;

export type CachedGroup<Shown extends ShownFields = DefaultFields> = Of<
  'FeedGroup',
  {
    readonly id: string;
    readonly relevancy: string;
    readonly count: { readonly count: number };
    /** The top one. */
    readonly items: readonly CachedItem<Shown>[];
  }
>;

export type CachedNotification<Shown extends ShownFields = DefaultFields> = Of<
  'Notification',
  {
    readonly id: string;
    readonly kind: string;
    /** Of its newest event, which is its place in the list. */
    readonly at: string;
    readonly isSeen: boolean;
    readonly isRead: boolean;
    readonly summary: string;
    readonly action: Of<'Action', { readonly id: string }> | null;
  } & Shown['notification']
>;

export interface CachedPage<Node> {
  readonly edges: readonly { readonly cursor: string; readonly node: Node }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly endCursor: string | null;
    /** Of a feed: whether there is more above, which is so only of one that does not begin at the top. */
    readonly hasPreviousPage?: boolean;
    readonly startCursor?: string | null;
  };
}

export interface CachedFeedPage<Shown extends ShownFields = DefaultFields> extends CachedPage<
  CachedItem<Shown>
> {
  /** Events from here on are what the page has not. */
  readonly liveCursor: string;
}

export interface NotificationsPage<Node> {
  readonly edges: CachedPage<Node>['edges'];
  readonly liveCursor: string;
  /** The number at the bell. */
  readonly unseen: { readonly count: number; readonly isExact: boolean };
}

type Listed<Event> = { readonly cursor: string } & Event;

export type CachedFeedEvent<Item> = Listed<
  | { readonly __typename: 'FeedReady' }
  | { readonly __typename: 'FeedItemAdded' | 'FeedItemUpdated'; readonly item: Item }
  | { readonly __typename: 'FeedItemRemoved'; readonly itemId: string }
  | { readonly __typename: 'FeedResync'; readonly reason: string }
>;

export type CachedNotificationEvent<Node> = Listed<
  | { readonly __typename: 'NotificationsReady' }
  | { readonly __typename: 'NotificationAdded' | 'NotificationUpdated'; readonly notification: Node }
  | { readonly __typename: 'NotificationRemoved'; readonly notificationId: string }
  | {
      readonly __typename: 'NotificationCountsChanged';
      readonly unseen: NotificationsPage<Node>['unseen'];
    }
  | { readonly __typename: 'NotificationsResync'; readonly reason: string }
>;

/** Lists that are read again when something of them has changed. */
export interface OtherLists<Shown extends ShownFields = DefaultFields> {
  readonly slice: CachedAction<Shown>;
  readonly bookmarks: CachedAction<Shown>;
  readonly comments: CachedComment<Shown>;
  readonly groups: CachedGroup<Shown>;
}

/** The answer to the query of such a list. */
export interface ListAnswer<Shown extends ShownFields = DefaultFields> {
  readonly slice?: CachedPage<CachedAction<Shown>>;
  readonly viewer?: { readonly bookmarks: CachedPage<CachedAction<Shown>> };
  readonly action?: {
    readonly interactions: CachedPage<CachedComment<Shown>>;
    /** The reader's own comments that nobody else sees before a moderator has looked at them. */
    readonly viewer: { readonly commentsInReview: readonly CachedComment<Shown>[] };
  } | null;
  readonly feedGroups?: CachedPage<CachedGroup<Shown>>;
}

/** Which of these lists, and which part of it. `view` and `listId` are of groups. */
export interface ListVariables extends OfList {
  /** Of a slice: the person or thing. */
  readonly refId?: string;
  /** Of comments: the action. */
  readonly actionId?: string;
  readonly filter?: object;
  readonly first?: number;
  readonly after?: string | null;
}

/** Which feed, and which part of it. */
export interface FeedVariables extends OfList {
  readonly first?: number;
  readonly after?: string | null;
  readonly last?: number;
  readonly before?: string | null;
  readonly filter?: object;
}

export interface Watched extends WatchedList {
  readonly filter?: object;
}

/** Which list a watch is of, among the variables of its query. */
export function watchedOf({ view, listId, filter, refId, actionId }: ListVariables): Watched {
  const given = Object.entries({ view, listId, filter, refId, actionId });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** The subscription of a list that has one. */
export function eventsOf(
  { sliceEvents, commentsEvents }: { readonly sliceEvents: string; readonly commentsEvents: string },
  name: keyof OtherLists,
): string | undefined {
  return name === 'slice' ? sliceEvents : name === 'comments' ? commentsEvents : undefined;
}

export function listIn<Shown extends ShownFields>({ slice, viewer, action, feedGroups }: ListAnswer<Shown>) {
  return slice ?? viewer?.bookmarks ?? action?.interactions ?? feedGroups;
}

/** What a list shows beside its page: of comments, the reader's own that wait for review. */
export function inReviewIn<Shown extends ShownFields>({ action }: ListAnswer<Shown>) {
  return action?.viewer.commentsInReview ?? [];
}

/** A sort key, greatest on top as in a feed: relevancy, then action id, which the global id contains in base64. */
export function orderOf(relevancy: string, actionId: string): string {
  return `${relevancy} ${atob(actionId)}`;
}

interface Placed {
  readonly id: string;
  readonly relevancy: string;
  readonly action: { readonly id: string };
}

/** The page after an event, whether or not it had the item before. */
export function afterFeedEvent<Item extends Placed, Page extends CachedPage<Item>>(
  page: Page,
  event: CachedFeedEvent<Item>,
): Page {
  if (event.__typename === 'FeedItemRemoved') return without(page, event.itemId);
  if (event.__typename !== 'FeedItemAdded' && event.__typename !== 'FeedItemUpdated') return page;
  const { item } = event;
  // Where it stood it stays: taken for one below all that is loaded, the last one would be lost.
  const at = page.edges.findIndex(({ node }) => node.id === item.id);
  const edge = page.edges[at];
  if (edge?.node.relevancy === item.relevancy)
    return { ...page, edges: page.edges.with(at, { ...edge, node: item }) };
  const order = orderOf(item.relevancy, item.action.id);
  const { edges } = without(page, item.id);
  const found = edges.findIndex(({ node }) => orderOf(node.relevancy, node.action.id) < order);
  // Below or above everything that is loaded: its page brings it.
  const { hasNextPage, hasPreviousPage } = page.pageInfo;
  if (found < 0 ? hasNextPage : found === 0 && hasPreviousPage === true) return { ...page, edges };
  return { ...page, edges: placed(edges, found, 'FeedEdge', item) };
}

/** Whether an event brings an item that the page has not, or has in another place. */
export function moves<Item extends Placed>(
  page: CachedPage<Item> | undefined,
  event: CachedFeedEvent<Item>,
): boolean {
  if (event.__typename !== 'FeedItemAdded' && event.__typename !== 'FeedItemUpdated') return false;
  const { id, relevancy } = event.item;
  return page?.edges.find(({ node }) => node.id === id)?.node.relevancy !== relevancy;
}

/** The page after an event, the newest first, as long as `first`. */
export function afterNotificationEvent<
  Node extends { readonly id: string; readonly at: string },
  Page extends NotificationsPage<Node>,
>(page: Page, event: CachedNotificationEvent<Node>, first: number): Page {
  if (event.__typename === 'NotificationCountsChanged') return { ...page, unseen: event.unseen };
  if (event.__typename === 'NotificationRemoved') return without(page, event.notificationId);
  if (event.__typename !== 'NotificationAdded' && event.__typename !== 'NotificationUpdated') return page;
  const { notification } = event;
  const { edges } = without(page, notification.id);
  const found = edges.findIndex(({ node }) => node.at < notification.at);
  return { ...page, edges: placed(edges, found, 'NotificationEdge', notification).slice(0, first) };
}

interface Listing {
  readonly edges: readonly { readonly node: { readonly id: string } }[];
}

/** With a node on top, and nowhere else. */
export function withFirst<Page extends Listing>(page: Page, edgeType: string, node: { id: string }): Page {
  return { ...page, edges: placed(without(page, node.id).edges, 0, edgeType, node) };
}

export function without<Page extends Listing>(page: Page, id: string): Page {
  return { ...page, edges: page.edges.filter(({ node }) => node.id !== id) };
}

/** @param at where; at the end if below 0 */
function placed<Edge>(edges: readonly Edge[], at: number, __typename: string, node: unknown): Edge[] {
  const edge = { __typename, cursor: '', node } as Edge;
  return edges.toSpliced(at < 0 ? edges.length : at, 0, edge);
}

/** Null for each field that a fragment selects: what is not known of an object before the server has made it. */
export function unknownFields(document: { readonly definitions: readonly object[] }): Record<string, null> {
  const [fragment] = document.definitions as readonly {
    readonly selectionSet: { readonly selections: readonly object[] };
  }[];
  const fields = (fragment?.selectionSet.selections ?? []) as readonly {
    readonly name?: { readonly value: string };
    readonly alias?: { readonly value: string } | undefined;
  }[];
  return Object.fromEntries(
    fields.flatMap(({ alias, name = alias }) => (name === undefined ? [] : [[(alias ?? name).value, null]])),
  );
}

/** Cursors at which lists begin that do not begin at the top. */
export type Starts = Set<string>;

interface Asking {
  readonly request: Request;
  readonly reader: AbortSignal;
}

/** The variables of a feed, of one that begins where the reader left off once that is known. */
export class FeedStart {
  readonly #source: Asking;
  readonly #starts: Starts;
  readonly #from: FeedOptions['from'];
  readonly #variables: FeedVariables;
  #known: { readonly reader: AbortSignal; readonly after: string | undefined } | undefined;

  constructor(source: Asking, starts: Starts, { from, ...variables }: FeedOptions) {
    this.#source = source;
    this.#starts = starts;
    this.#from = from;
    this.#variables = variables;
  }

  get variables(): FeedVariables {
    const after = this.#known?.after;
    return after === undefined ? this.#variables : { ...this.#variables, after };
  }

  /** Asks where it begins, once for each reader. Rejects with a FeedClientError. */
  async find(document: string): Promise<void> {
    const { request, reader } = this.#source;
    if (this.#from === undefined || this.#known?.reader === reader) return;
    const { view, listId } = this.#variables;
    const { viewer } = await request<FirstUnread>(document, { view, listId });
    const after = viewer.firstUnread?.cursor;
    if (after !== undefined) this.#starts.add(after);
    this.#known = { reader, after };
  }

  /** Variables of the page above what is loaded; undefined: it begins at the top. */
  above(page: CachedPage<unknown> | undefined): FeedVariables | undefined {
    const { hasPreviousPage, startCursor } = page?.pageInfo ?? {};
    if (hasPreviousPage !== true || startCursor == null) return undefined;
    const { first: last, after: _after, ...list } = this.variables;
    return { ...list, before: startCursor, ...(last !== undefined && { last }) };
  }
}

interface FirstUnread {
  readonly viewer: { readonly firstUnread: { readonly cursor: string } | null };
}

/** Where the events of a list begin. It is loaded if it is not; where that fails, the watch tries again. */
export async function beginOf(list: {
  read(): { readonly liveCursor: string } | undefined;
  load(): Promise<void>;
}): Promise<string | undefined> {
  if (list.read() === undefined) await list.load().catch(() => undefined);
  return list.read()?.liveCursor;
}

/** A list in a cache, for the screens that show it. */
export interface CacheList<Query, Variables, Page> {
  /** What to show: a query of the library, and its variables. */
  readonly query: Query;
  readonly variables: Variables;
  /** What is loaded, with what is not confirmed yet. */
  read(): Page | undefined;
  /** Reads the first page; of a list without events as much as was loaded. Rejects when the server does not answer. */
  load(): Promise<void>;
  /** Gives what is shown, and what is shown after each change. Asks for nothing. @returns ends it */
  subscribe(listener: (page: Page | undefined) => void): () => void;
}

export interface PagedList<Query, Page> extends CacheList<Query, ListVariables, Page> {
  /** Of comments: the reader's own that wait for review, the newest first. They are not in the page. */
  inReview(): readonly CachedComment<ShownFields>[];
  loadMore(): Promise<void>;
  /**
   * Reads it, and again whenever something of it has changed: slices and comments have events of their own, the others change with
   * a feed that is watched. @returns stops it
   */
  watch(): () => void;
}

/** Which feed, and where it begins. */
export interface FeedOptions extends FeedVariables {
  /**
   * The oldest unread item, and it is loaded both ways: call `load` before it is shown. A view in another order than RELEVANCY begins at
   * the top.
   */
  readonly from?: 'firstUnread';
}

export interface FeedList<Query, Page, Event> extends CacheList<Query, FeedVariables, Page> {
  loadMore(): Promise<void>;
  /** Loads the page above, of a list that does not begin at the top. */
  loadPrevious(): Promise<void>;
  /** Reads it, unless it is loaded, and applies its events. @returns stops it */
  watch(onEvent?: (event: Event) => void): () => void;
}

export interface NotificationList<Query, Page> extends CacheList<Query, { readonly first: number }, Page> {
  /** Reads it, unless it is loaded, and applies its events. @returns stops it */
  watch(): () => void;
  /** Call it when the reader opens the list: the number goes out, on all devices. */
  markSeen(): Promise<void>;
}

/** What a reader does is shown at once, and taken back if it fails; then the promise rejects. */
export interface Deeds {
  like(actionId: string): Promise<void>;
  unlike(actionId: string): Promise<void>;
  /** It becomes the first bookmark. */
  bookmark(actionId: string): Promise<void>;
  unbookmark(actionId: string): Promise<void>;
  /** It becomes the first comment. Until the server answers, fields of your own are null in it. */
  comment(actionId: string, text: string): Promise<void>;
  removeComment(id: string): Promise<void>;
}
