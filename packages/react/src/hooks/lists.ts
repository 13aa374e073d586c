import type {
  ActionFilter,
  ClientFields,
  FeedEvent,
  Instant,
  Person,
  SliceEvent,
  UnreadCount,
} from '@fanfare/client';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { FanfareAction, FanfareItem, SummaryPart } from '../item.ts';
import * as documents from '../more-documents.ts';
import { useProvided, useReader } from '../provider.tsx';
import type { Subscriber, Watched } from '../store/connection.ts';
import * as deeds from '../store/deeds.ts';
import { bookmark } from '../store/engaging.ts';
import type { FeedOptions } from '../store/feed-options.ts';
import { useFeedEvents, useQuery } from './feed.ts';
import { useLatest } from './latest.ts';
import { usePages, type Connection, type Pages } from './pages.ts';

export type { ActionFilter } from '@fanfare/client';

export interface ActionPages extends Omit<
  Pages<FanfareAction, Connection<FanfareAction>>,
  'nodes' | 'page' | 'asked' | 'readAgain'
> {
  /** The latest first, with the reader's own writes on them. */
  readonly actions: readonly FanfareAction[];
}

type ActionConnection = Connection<FanfareAction>;
const sliceOf = (data: unknown): ActionConnection => (data as { readonly slice: ActionConnection }).slice;
const bookmarksOf = (data: unknown): ActionConnection =>
  (data as { readonly viewer: { readonly bookmarks: ActionConnection } }).viewer.bookmarks;
const hiddenOf = (data: unknown): ActionConnection =>
  (data as { readonly viewer: { readonly hiddenItems: ActionConnection } }).viewer.hiddenItems;

function useActionPages(
  what: string,
  queryOf: (fields: ClientFields) => string,
  variables: Readonly<Record<string, unknown>> & { readonly first: number },
  pick: (data: unknown) => ActionConnection,
): ActionPages & Pick<Pages<unknown, unknown>, 'readAgain'> {
  const { actions, client } = useReader();
  const {
    nodes,
    page: _page,
    asked,
    ...pages
  } = usePages<FanfareAction, ActionConnection>(queryOf(client.fields), variables, pick, what);
  const taken = useRef<{ readonly by: typeof actions; readonly nodes: WeakSet<FanfareAction> } | null>(null);
  useEffect(() => {
    if (taken.current?.by !== actions) taken.current = { by: actions, nodes: new WeakSet() };
    const { nodes: known } = taken.current;
    // Those of earlier pages say what was so when they came.
    const fresh = nodes.filter((node) => !known.has(node));
    for (const node of fresh) {
      known.add(node);
      actions.confirmRead(node, asked);
    }
    if (fresh.length > 0) actions.emit();
  }, [actions, nodes, asked]);
  const version = useSyncExternalStore(actions.subscribe, actions.getVersion, actions.getVersion);
  const shown = useMemo(
    () =>
      nodes.filter(({ id }) => !actions.isGone(id, 'everywhere')).map((node) => actions.get(node.id) ?? node),
    // The version says that any of them may have changed.
    [actions, nodes, version],
  );
  return { ...pages, actions: shown };
}

/** All visible actions that carry the id of a person or a thing, kept up to date. */
export function useSlice(
  refId: string,
  { first = 25, filter }: { readonly first?: number; readonly filter?: ActionFilter } = {},
): ActionPages {
  const { actions } = useReader();
  const { readAgain, ...pages } = useActionPages('slice', documents.slice, { refId, first, filter }, sliceOf);
  useLive(
    { what: 'watchSlice', of: { refId, filter } },
    {
      onEvent(event: SliceEvent) {
        const isShown =
          event.__typename === 'ActionUpdated' && pages.actions.some(({ id }) => id === event.action.id);
        if (!isShown) return readAgain();
        actions.confirm(event.action);
        actions.emit();
        return undefined;
      },
      onResync: readAgain,
      error: pages.error,
    },
  );
  return pages;
}

/** What the reader keeps for later. `remove` takes an action out. */
export function useBookmarks({ first = 25 }: { readonly first?: number } = {}): ActionPages & {
  readonly remove: (actionId: string) => Promise<void>;
} {
  const reader = useReader();
  const pages = useActionPages('bookmarks', documents.bookmarks, { first }, bookmarksOf);
  // Set on another device.
  useFeedEvents((event) => {
    if (!('item' in event) || !event.item.action.viewer.isBookmarked) return;
    if (!pages.actions.some(({ id }) => id === event.item.action.id)) void pages.refresh();
  });
  return {
    ...pages,
    actions: pages.actions.filter(({ viewer }) => viewer.isBookmarked),
    remove: (actionId) => bookmark(reader, actionId, false),
  };
}

/** What the reader has hidden from the feed. `unhide` shows an action there again. */
export function useHidden({ first = 25 }: { readonly first?: number } = {}): ActionPages & {
  readonly unhide: (actionId: string) => Promise<void>;
} {
  const reader = useReader();
  const pages = useActionPages('hidden', documents.hiddenItems, { first }, hiddenOf);
  const { refresh } = pages;
  const unhide = async (actionId: string): Promise<void> => {
    await deeds.unhide(reader, actionId);
    await refresh();
  };
  return { ...pages, unhide };
}

/** What the reader has published that waits for review: nobody else sees it but moderators. */
export function useInReview(): {
  /** The latest first. */
  readonly actions: readonly FanfareAction[];
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly reload: () => void;
} {
  const { data, ...rest } = useQuery<{
    readonly viewer: { readonly actionsInReview: readonly FanfareAction[] };
  }>(documents.inReview(useReader().client.fields));
  return { ...rest, actions: data?.viewer.actionsInReview ?? [] };
}

/** Entries of a feed that belong together, such as three people who rated the same applicant. */
export interface FanfareGroup {
  readonly id: string;
  readonly relevancy: Instant;
  readonly isUnread: boolean;
  readonly summary: string;
  readonly summaryParts: readonly SummaryPart[];
  readonly count: { readonly count: number; readonly isExact: boolean };
  readonly actors: readonly Person[];
  /** The latest three. */
  readonly items: readonly FanfareItem[];
}

interface GroupConnection extends Connection<FanfareGroup> {
  readonly unread: UnreadCount;
}
const groupsOf = (data: unknown): GroupConnection =>
  (data as { readonly feedGroups: GroupConnection }).feedGroups;

/** What is new and not in what is shown. */
export interface Pending {
  readonly count: number;
  /** Reads the list again. */
  readonly show: () => Promise<void>;
}

export interface GroupPages extends Omit<
  Pages<FanfareGroup, GroupConnection>,
  'nodes' | 'page' | 'asked' | 'readAgain'
> {
  readonly groups: readonly FanfareGroup[];
  readonly unread: UnreadCount;
  /** Items that are new or bumped. */
  readonly pending: Pending;
}

/** Watches a list while it is shown. `onResync` is called when it is opened, too: what happened since the first page was read came by no event. */
function useLive(
  watched: Watched,
  on: Pick<Subscriber, 'onEvent'> & { onResync: () => Promise<void>; error: Error | null },
): void {
  const { reader, isEnabled } = useProvided();
  const latest = useLatest(on);
  const key = JSON.stringify(watched);
  useEffect(() => {
    if (!isEnabled) return undefined;
    return reader.connection.open({
      ...watched,
      cursor: undefined,
      onEvent: (event) => latest.current.onEvent(event),
      onResync: () => latest.current.onResync(),
      onLive: () => {
        const { error, onResync } = latest.current;
        if (error !== null) onResync().catch(() => undefined);
      },
    });
    // The key says all of what is watched.
  }, [reader, isEnabled, key]);
}

/** The reader's feed in groups. What is new waits; what is taken out goes at once. */
export function useFeedGroups({
  first = 25,
  ...of
}: { readonly first?: number } & Pick<FeedOptions, 'view' | 'listId' | 'filter'> = {}): GroupPages {
  const reader = useReader();
  const {
    nodes,
    page,
    asked: _asked,
    readAgain,
    ...pages
  } = usePages<FanfareGroup, GroupConnection>(
    documents.groups(reader.client.fields),
    { first, ...of },
    groupsOf,
    'groups',
  );
  const [waiting, setWaiting] = useState<ReadonlySet<string>>(new Set());
  const again = async (): Promise<void> => {
    setWaiting(new Set());
    try {
      await readAgain();
    } catch (error) {
      setWaiting((last) => new Set([...waiting, ...last]));
      throw error;
    }
  };
  const show = (): Promise<void> => again().catch(() => undefined);
  useLive(
    { what: 'watch', of: { filter: of.filter, view: of.view, listId: of.listId } },
    {
      onEvent(event: FeedEvent<FanfareItem>) {
        if (event.__typename === 'FeedItemRemoved') return again();
        if (!('item' in event)) return undefined;
        const { id, groupId, relevancy, isUnread } = event.item;
        const group = nodes.find((one) => one.id === groupId);
        if (group === undefined || relevancy > group.relevancy) setWaiting((last) => new Set([...last, id]));
        // Nothing new, but it was marked.
        else if ((group.items.find((one) => one.id === id) ?? group).isUnread !== isUnread) void show();
        return undefined;
      },
      onResync: again,
      error: pages.error,
    },
  );
  return {
    ...pages,
    groups: nodes,
    unread: page?.unread ?? { count: 0, isExact: true },
    pending: { count: waiting.size, show },
  };
}

export interface Explanation {
  readonly isInFeed: boolean;
  readonly isEntitled: boolean;
  readonly path: string;
  readonly relevancy: Instant | null;
  readonly addressedBy: readonly {
    readonly reason: string;
    readonly via: string | null;
    readonly since: Instant | null;
    readonly until: Instant | null;
  }[];
  readonly withheldBy: readonly string[];
  readonly causes: readonly { readonly kind: string; readonly at: Instant; readonly liftedTo: Instant }[];
}

/** Why an action is in the feed or not. @param memberId whose feed; of others it needs the role admin */
export function useExplain(
  actionId: string,
  memberId?: string,
): {
  readonly explanation: Explanation | undefined;
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly reload: () => void;
} {
  const { data, ...rest } = useQuery<{ readonly explainFeedItem: Explanation }>(documents.EXPLAIN, {
    actionId,
    memberId,
  });
  return { explanation: data?.explainFeedItem, ...rest };
}
