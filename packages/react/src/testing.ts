import { FeedClientError } from '@fanfare/client';
import type {
  ActionEvent,
  ActionWatchOptions,
  FeedClient,
  FeedEvent,
  FeedMutations,
  FeedPage,
  FeedQuery,
  Fields,
  Notification,
  NotificationEvent,
  NotificationPage,
  NotificationQuery,
  NotificationWatchOptions,
  SliceEvent,
  SliceWatchOptions,
  UnreadCount,
  WatchOptions,
  WatchState,
} from '@fanfare/client';
import type { FanfareItem } from './item.ts';

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** A client without a server: a test gives the pages and emits the events. */
export interface TestFeedClient extends FeedClient<FanfareItem> {
  /** Sends an event to every watch of the feed, of the notifications, of slices or of threads; resolves when all have taken it. */
  emit(event: Emitted): Promise<void>;
  /** Of all watches. */
  resync(reason: string): Promise<void>;
  /** Gives every watch this state; `waiting` is a lost connection. */
  connection(state: WatchState, cause?: Error): void;
  /** Watches that are open. */
  readonly watching: number;
  /** Queries of the feed so far. */
  readonly queries: readonly FeedQuery[];
  /** As if the token function had begun to answer for another reader. */
  changeReader(): void;
}

export interface TestClientOptions {
  readonly feed: (query: FeedQuery) => FanfareItem[] | FeedPage<FanfareItem> | Promise<FeedPage<FanfareItem>>;
  readonly notifications?: (
    query: NotificationQuery,
  ) => Notification[] | NotificationPage | Promise<NotificationPage>;
  readonly request?: (query: string, variables?: Readonly<Record<string, unknown>>) => unknown;
  readonly fields?: Fields;
  /** Those that the test expects; any other rejects. */
  readonly mutations?: Partial<FeedMutations>;
}

export function createTestClient({
  feed,
  notifications = () => [],
  request,
  fields = {},
  mutations = {},
}: TestClientOptions): TestFeedClient {
  const watches = new Set<WatchOptions<FanfareItem>>();
  const notified = new Set<NotificationWatchOptions>();
  const slices = new Set<SliceWatchOptions>();
  const threads = new Set<ActionWatchOptions>();
  const queries: FeedQuery[] = [];
  let count = 0;
  let reader = new AbortController();
  const next = (): string => `cursor-${String((count += 1))}`;
  const watchIn =
    <Options extends AnyWatch>(open: Set<Options>) =>
    async (options: Options): Promise<void> => {
      open.add(options);
      options.onState?.('live');
      if (options.after === undefined) await options.onResync('opened', next());
      await new Promise<void>((resolve) => {
        if (options.signal?.aborted === true) resolve();
        options.signal?.addEventListener('abort', () => {
          resolve();
        });
      });
      open.delete(options);
    };
  return {
    ...{ queries, fields },
    get reader() {
      return reader.signal;
    },
    changeReader() {
      const before = reader;
      reader = new AbortController();
      before.abort(new FeedClientError('READER_CHANGED', 'The token is of another reader'));
    },
    language: undefined,
    close() {
      reader.abort(new FeedClientError('CLOSED', 'The client is closed'));
    },
    get watching() {
      return watches.size + notified.size + slices.size + threads.size;
    },
    async emit(event) {
      const cursor = next();
      if (isOfNotifications(event)) for (const { onEvent } of notified) await onEvent({ ...event, cursor });
      else if (isOfThread(event)) for (const { onEvent } of threads) await onEvent({ ...event, cursor });
      else if (isOfSlice(event)) for (const { onEvent } of slices) await onEvent({ ...event, cursor });
      else for (const { onEvent } of watches) await onEvent({ ...event, cursor });
    },
    async resync(reason) {
      const cursor = next();
      for (const { onResync } of [...watches, ...notified, ...slices, ...threads])
        await onResync(reason, cursor);
    },
    connection(state, cause) {
      for (const { onState } of [...watches, ...notified, ...slices, ...threads]) onState?.(state, cause);
    },
    watch: watchIn(watches),
    watchNotifications: watchIn(notified),
    watchSlice: watchIn(slices),
    watchAction: watchIn(threads),
    async feed(query = {}) {
      queries.push(query);
      const answer = await feed(query);
      if (!Array.isArray(answer)) return answer;
      return {
        ...pageOf(answer),
        unread: countOf(answer.filter(({ isUnread }) => isUnread)),
        state: 'READY',
        liveCursor: next(),
      };
    },
    async notifications(query = {}) {
      const answer = await notifications(query);
      if (!Array.isArray(answer)) return answer;
      return {
        ...pageOf(answer),
        unseen: countOf(answer.filter(({ isSeen }) => !isSeen)),
        unread: countOf(answer.filter(({ isRead }) => !isRead)),
        liveCursor: next(),
      };
    },
    request: async <Data>(query: string, variables?: Readonly<Record<string, unknown>>) =>
      (await request?.(query, variables)) as Data,
    mutations: new Proxy(mutations, {
      get: (given, name): unknown =>
        Reflect.get(given, name) ??
        (() => Promise.reject(new Error(`The test does not expect the mutation ${String(name)}`))),
    }) as FeedMutations,
  };
}

type AnyWatch = WatchOptions<FanfareItem> | NotificationWatchOptions | SliceWatchOptions | ActionWatchOptions;
type Emitted = DistributiveOmit<
  FeedEvent<FanfareItem> | NotificationEvent | SliceEvent | ActionEvent,
  'cursor'
>;

function isOfNotifications(event: Emitted): event is DistributiveOmit<NotificationEvent, 'cursor'> {
  return event.__typename.startsWith('Notification');
}

function isOfThread(event: Emitted): event is DistributiveOmit<ActionEvent, 'cursor'> {
  return event.__typename.startsWith('Interaction') || /^Action(Changed|Gone)$/.test(event.__typename);
}

function isOfSlice(event: Emitted): event is DistributiveOmit<SliceEvent, 'cursor'> {
  return /^Action(Added|Updated|Removed)$/.test(event.__typename);
}

/** All that there is, as one page. */
function pageOf<Node extends { readonly id: string }>(
  nodes: readonly Node[],
): Pick<FeedPage<Node>, 'edges' | 'pageInfo'> {
  return {
    edges: nodes.map((node) => ({ cursor: node.id, node })),
    pageInfo: { hasNextPage: false, endCursor: nodes.at(-1)?.id ?? null },
  };
}

function countOf({ length }: readonly unknown[]): UnreadCount {
  return { count: Math.min(100, length), isExact: length <= 100 };
}

/** A notification as a test wants it. Its place follows from `at`. */
export function testNotification(id: string, at: string, change: Partial<Notification> = {}): Notification {
  const summary = `Ada commented on ${id}`;
  return {
    ...{ id, at, kind: 'COMMENT', isSeen: false, isRead: false, summary, interaction: null },
    summaryParts: [{ text: summary, member: null, ref: null }],
    actors: [{ memberId: 'ada', name: 'Ada', imageUrl: null }],
    actorCount: { count: 1, isExact: true },
    action: { id: `action-${id}`, descriptor: { type: 'Posted', summary: `Mia posted ${id}` } },
    ...change,
  };
}

/** An item as a test wants it. Its place follows from `relevancy`. */
export function testItem(
  id: string,
  relevancy: string,
  change: Partial<Omit<FanfareItem, 'action'>> & { readonly action?: Partial<FanfareItem['action']> } = {},
): FanfareItem {
  return {
    ...{ id, relevancy, reasons: ['FOLLOW'], isUnread: true, groupId: `group-${id}` },
    ...{ isArchived: false, snoozedUntil: null, resharedBy: [] },
    ...change,
    action: {
      ...{
        id: `action-${id}`,
        conducted: relevancy,
        scope: 'FOLLOWERS',
        isHidden: false,
        commentsVersion: 0,
      },
      actor: { memberId: 'ada', name: 'Ada', imageUrl: null },
      refs: [],
      content: { body: null, rating: null, media: [] },
      descriptor: {
        ...{ type: 'Custom', summary: `Ada did ${id}`, tags: [] },
        summaryParts: [{ text: `Ada did ${id}`, member: null, ref: null }],
      },
      engagement: { comments: 0, likes: 0, reshares: 0, lastInteraction: null, reactions: [] },
      viewer: {
        ...{ hasLiked: false, hasCommented: false, hasReshared: false, isBookmarked: false },
        ...{ reactions: [], canDelete: false, canEdit: false },
      },
      ...change.action,
    },
  };
}
