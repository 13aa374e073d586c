import type {
  FeedClient,
  FeedEvent,
  FeedMutations,
  FeedPage,
  FeedQuery,
  WatchOptions,
} from '@fanfare/client';
import type { FanfareItem } from './item.ts';

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** A client without a server: a test gives the pages and emits the events. */
export interface TestFeedClient extends FeedClient<FanfareItem> {
  /** Sends an event to every watch; resolves when all have taken it. */
  emit(event: DistributiveOmit<FeedEvent<FanfareItem>, 'cursor'>): Promise<void>;
  resync(reason: string): Promise<void>;
  /** Watches that are open. */
  readonly watching: number;
  /** Queries of the feed so far. */
  readonly queries: readonly FeedQuery[];
}

export interface TestClientOptions {
  readonly feed: (query: FeedQuery) => FanfareItem[] | FeedPage<FanfareItem> | Promise<FeedPage<FanfareItem>>;
  readonly request?: (query: string, variables?: Readonly<Record<string, unknown>>) => unknown;
  /** Those that the test expects; any other rejects. */
  readonly mutations?: Partial<FeedMutations>;
}

export function createTestClient({ feed, request, mutations = {} }: TestClientOptions): TestFeedClient {
  const watches = new Set<WatchOptions<FanfareItem>>();
  const queries: FeedQuery[] = [];
  let count = 0;
  const next = (): string => `cursor-${String((count += 1))}`;
  return {
    queries,
    get watching() {
      return watches.size;
    },
    async emit(event) {
      const cursor = next();
      for (const { onEvent } of watches) await onEvent({ ...event, cursor });
    },
    async resync(reason) {
      const cursor = next();
      for (const { onResync } of watches) await onResync(reason, cursor);
    },
    async watch(options) {
      watches.add(options);
      options.onState?.('live');
      if (options.after === undefined) await options.onResync('opened', next());
      await new Promise<void>((resolve) => {
        if (options.signal?.aborted === true) resolve();
        options.signal?.addEventListener('abort', () => {
          resolve();
        });
      });
      watches.delete(options);
    },
    async feed(query = {}) {
      queries.push(query);
      const answer = await feed(query);
      if (!Array.isArray(answer)) return answer;
      return {
        edges: answer.map((node) => ({ cursor: node.id, node })),
        pageInfo: { hasNextPage: false, endCursor: answer.at(-1)?.id ?? null },
        unread: { count: answer.filter(({ isUnread }) => isUnread).length, isExact: true },
        state: 'READY',
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
      actor: { memberId: 'ada', name: 'Ada' },
      refs: [],
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
