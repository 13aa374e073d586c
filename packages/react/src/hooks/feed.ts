import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { FanfareItem } from '../item.ts';
import { useProvided, useReader } from '../provider.tsx';
import { asError } from '../store/as-error.ts';
import { useLatest } from './latest.ts';
import { keyOf, type FeedOptions, type FeedSnapshotState, type WhichList } from '../store/feed-options.ts';
import { findFirstUnread } from '../store/feed-pages.ts';
import type { FeedStore } from '../store/feed-store.ts';
import type { FeedListener } from '../store/reader.ts';

/** What can be done with any list. */
export interface ListControls {
  readonly loadMore: () => Promise<void>;
  /** Loads the page above, of a list that does not begin at the top. */
  readonly loadPrevious: () => Promise<void>;
  /** Loads pages until the item with this id is shown; false when it does not come. */
  readonly loadUntil: (id: string) => Promise<boolean>;
  /** Reads the list again behind what is shown. */
  readonly refresh: () => Promise<void>;
  /** Does again what `error` is about: reads the list, or its next page. */
  readonly retry: () => Promise<void>;
  /** What is new and waits; `show` gives the id of the first of it. */
  readonly pending: { readonly count: number; readonly show: () => string | null };
  /** Tells whether the reader is at the top and idle: then nothing waits. */
  readonly setAtTop: (isAtTop: boolean) => void;
}

export interface Feed extends Omit<FeedSnapshotState, 'waiting'>, ListControls {
  /** Which list it is. */
  readonly of: WhichList;
}

/** A list of the reader's feed. Options that are equal share it, however they are written down. */
export function useFeed(options: FeedOptions = {}): Feed {
  const { reader, isEnabled } = useProvided();
  const key = keyOf(options);
  // The key says all that the options say.
  const store = useMemo(() => reader.feed(options), [reader, key]);
  const snapshot = useSyncExternalStore(
    isEnabled ? store.use : store.subscribe,
    store.getSnapshot,
    store.getServerSnapshot,
  );
  return useMemo(() => {
    const { waiting, ...rest } = snapshot;
    return { ...rest, ...controlsOf(store, waiting), of: store.options };
  }, [store, snapshot]);
}

/** @param waiting how many wait now */
export function controlsOf(
  store: Pick<
    FeedStore,
    'loadMore' | 'loadPrevious' | 'loadUntil' | 'refresh' | 'retry' | 'showWaiting' | 'setAtTop'
  >,
  waiting: number,
): ListControls {
  const { loadMore, loadPrevious, loadUntil, refresh, retry, setAtTop } = store;
  return {
    loadMore,
    loadPrevious,
    loadUntil,
    refresh,
    retry,
    setAtTop,
    pending: { count: waiting, show: store.showWaiting },
  };
}

/**
 * An action that a list shows, with the reader's own writes; or what a selector makes of it: then only another value of that
 * renders again, such as a count.
 */
export function useFeedAction(actionId: string): FanfareItem['action'] | undefined;
export function useFeedAction<Value>(
  actionId: string,
  selector: (action: FanfareItem['action'] | undefined) => Value,
): Value;
export function useFeedAction<Value>(
  actionId: string,
  selector?: (action: FanfareItem['action'] | undefined) => Value,
): unknown {
  const { actions } = useReader();
  const get = useMemo(() => {
    let [last, value]: [FanfareItem['action'] | undefined, unknown] = [undefined, selector?.(undefined)];
    return () => {
      const action = actions.get(actionId);
      if (selector === undefined) return action;
      if (action !== last) [last, value] = [action, selector(action)];
      return value;
    };
  }, [actions, actionId, selector]);
  return useSyncExternalStore(actions.subscribe, get, get);
}

/** Unread items of the whole feed; null until it is known. */
export function useUnreadCount(): { readonly count: number; readonly isExact: boolean } | null {
  const { reader, isEnabled } = useProvided();
  const { unread } = reader;
  return useSyncExternalStore(isEnabled ? unread.use : unread.subscribe, unread.getSnapshot, () => null);
}

const SETTLING_FRAMES = 20;

/** Marks of the reader on a list. */
export function useReadMark(feed: Pick<Feed, 'items' | 'loadUntil'> & Partial<Pick<Feed, 'of'>>): {
  readonly markRead: (items: readonly FanfareItem[]) => Promise<void>;
  readonly markUnread: (items: readonly FanfareItem[]) => Promise<void>;
  /**
   * All of the list that is shown and all below it; what waits stays unread. It moves the read mark of the feed or of the view that is
   * shown; a view without a mark of its own, and a list of the reader, has that of the feed.
   */
  readonly markAllRead: () => Promise<void>;
  /** The oldest unread item that is loaded. */
  readonly firstUnread: FanfareItem | undefined;
  /** Id of the oldest unread item of the list; null when there is none, and for a list in another order than RELEVANCY. */
  readonly findFirstUnread: () => Promise<string | null>;
  /** Loads the list down to that item, scrolls to it and gives it the focus. @returns its id; null: there is none */
  readonly goToFirstUnread: () => Promise<string | null>;
} {
  const reader = useReader();
  const { items, loadUntil, of } = feed;
  return useMemo(() => {
    const find = async (): Promise<string | null> =>
      (await findFirstUnread(reader.client, of))?.item.id ?? null;
    return {
      markRead: (marked) => reader.markItems(marked, true),
      markUnread: (marked) => reader.markItems(marked, false),
      async markAllRead() {
        const upTo = items.reduce((latest, { relevancy }) => (relevancy > latest ? relevancy : latest), '');
        if (upTo !== '') await reader.markAllRead(upTo, of);
      },
      firstUnread: items.findLast(({ isUnread }) => isUnread),
      findFirstUnread: find,
      async goToFirstUnread() {
        const id = await find();
        if (id === null || !(await loadUntil(id))) return null;
        // A list that is no page is scrolled by who has made it.
        if (typeof document === 'undefined') return id;
        await new Promise(requestAnimationFrame);
        const element = document.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`);
        element?.focus({ preventScroll: true });
        await bringIntoView(element);
        return id;
      },
    };
  }, [reader, items, loadUntil, of]);
}

/** What is around it takes its size only when it comes near the view, which moves it again: until it stays. */
async function bringIntoView(element: HTMLElement | null): Promise<void> {
  let [top, before] = [NaN, NaN];
  for (let frame = 0; frame < SETTLING_FRAMES && (top !== before || frame < 2); frame += 1) {
    element?.scrollIntoView({ block: 'center' });
    await new Promise(requestAnimationFrame);
    [before, top] = [top, element?.getBoundingClientRect().top ?? 0];
  }
}

/** Calls back with every event of the lists that are shown. */
export function useFeedEvents(listener: FeedListener): void {
  const reader = useReader();
  const latest = useLatest(listener);
  useEffect(
    () =>
      reader.listen((event) => {
        latest.current(event);
      }),
    [reader],
  );
}

/** The connection of all lists. */
export function useConnection(): {
  readonly state: 'idle' | 'connecting' | 'live' | 'waiting' | 'ended';
  readonly cause: Error | null;
  /** Whether this tab holds the connection, for itself or for all tabs. */
  readonly isLeader: boolean;
  readonly retryNow: () => void;
} {
  const { connection } = useReader();
  const snapshot = useSyncExternalStore(connection.subscribe, connection.getSnapshot, connection.getSnapshot);
  return useMemo(() => ({ ...snapshot, retryNow: connection.retryNow }), [connection, snapshot]);
}

/** Whom something was asked, and what: what came of another one, such as the reader before this one, is not shown. */
export function useSource(reader: object, key: string): object {
  return useMemo(() => ({}), [reader, key]);
}

/** What a query of the API gives: asked for when mounted, again when its variables change or `reload` is called. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- only the caller knows what it asks for
export function useQuery<Data>(
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): {
  readonly data: Data | undefined;
  readonly error: Error | null;
  readonly isLoading: boolean;
  readonly reload: () => void;
} {
  const { reader, isEnabled } = useProvided();
  const { client } = reader;
  const key = `${query} ${JSON.stringify(variables)}`;
  const source = useSource(reader, key);
  const [result, setResult] = useState<{ source: object; data?: Data; error: Error | null } | null>(null);
  const again = useRef<(() => void) | null>(null);
  useEffect(() => {
    if (!isEnabled) return undefined;
    const abort = new AbortController();
    let [isAsking, isDue] = [false, false];
    const ask = async (): Promise<void> => {
      // One after the other: asked for more often than the network answers, each would cut off the one before.
      isDue = true;
      if (isAsking) return;
      isAsking = true;
      while (isDue) {
        isDue = false;
        try {
          const data = await client.request<Data>(query, variables, abort.signal);
          if (!abort.signal.aborted) setResult({ source, data, error: null });
        } catch (error) {
          if (abort.signal.aborted) return;
          setResult((last) => ({ ...(last?.source === source ? last : {}), source, error: asError(error) }));
        }
      }
      isAsking = false;
    };
    again.current = () => void ask();
    again.current();
    return () => {
      again.current = null;
      abort.abort();
    };
    // The source says all of reader, query and variables.
  }, [source, isEnabled]);
  const current = result?.source === source ? result : null;
  return {
    data: current?.data,
    error: current?.error ?? null,
    isLoading: current === null,
    reload: useCallback(() => again.current?.(), []),
  };
}
