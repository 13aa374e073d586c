import {
  createContext,
  useContext,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import { useConnection, type Feed as FeedState, type ListControls } from '../hooks/feed.ts';
import type { FanfareItem } from '../item.ts';
import { useCommonWords } from '../provider.tsx';
import type { ListState } from '../store/list-store.ts';
import { leaveBefore } from './focus-outside.ts';
import { rootOf } from './roots.ts';

export interface Identified {
  readonly id: string;
}

type State = ListState<Identified>;

/** A list of the reader, or one of your own: what the parts need of it. What is optional, a list without it does without. */
export type AnyList = Pick<State, 'items' | 'status' | 'error' | 'hasNextPage'> &
  Pick<ListControls, 'loadMore' | 'retry'> &
  Partial<
    Pick<State, 'isLoadingMore' | 'hasPreviousPage' | 'isLoadingPrevious'> &
      Pick<ListControls, 'loadPrevious' | 'pending' | 'setAtTop'> &
      Pick<FeedState, 'total'>
  >;

interface Shared {
  readonly feed: AnyList;
  readonly listId: string;
}

const Context = createContext<Shared | null>(null);

export function useShared(): Shared {
  const shared = useContext(Context);
  if (shared === null) throw new Error('There is no <Feed.Root> around this part');
  return shared;
}

/** The list, or the button for what is new, which would go under who is about to press it. */
const IN_HAND = ':is([data-fanfare="list"], [data-fanfare="new-items"]):is(:hover, :focus-within)';

/** Around all parts of one list. */
export function Root({
  feed,
  children,
}: {
  readonly feed: AnyList;
  readonly children: ReactNode;
}): ReactNode {
  const listId = useId();
  const top = useRef<HTMLDivElement>(null);
  const root = useRef<HTMLDivElement>(null);
  const { setAtTop } = feed;
  useEffect(() => {
    if (top.current === null || setAtTop === undefined) return undefined;
    let isVisible = false;
    // A reader whose pointer or focus is in the list is doing something with it: nothing moves under their hands.
    const look = (): void => {
      setAtTop(isVisible && root.current?.querySelector(IN_HAND) == null);
    };
    const observer = new IntersectionObserver((entries) => {
      isVisible = entries.at(-1)?.isIntersecting ?? false;
      look();
    });
    observer.observe(top.current);
    const element = root.current;
    // The list is not all of it: the pointer may come to the list from what stands beside it.
    const events = ['pointerover', 'pointerleave', 'focusin', 'focusout'] as const;
    // Behind the event: then the focus is where it goes to.
    const later = (): void => void setTimeout(look);
    for (const name of events) element?.addEventListener(name, later);
    return () => {
      observer.disconnect();
      for (const name of events) element?.removeEventListener(name, later);
      setAtTop(false);
    };
  }, [setAtTop]);
  const shared = useMemo(() => ({ feed, listId }), [feed, listId]);
  return (
    <Context.Provider value={shared}>
      <div ref={root} data-fanfare="root" data-status={feed.status}>
        <div ref={top} data-fanfare="top" aria-hidden="true" />
        {children}
      </div>
    </Context.Provider>
  );
}

interface ItemProps {
  readonly item: FanfareItem;
  /** From 0. */
  readonly index: number;
  readonly children: ReactNode;
}

/** One article. Its label is the summary inside it. */
export function Item({ item, index, children }: ItemProps): ReactNode {
  return (
    <Article
      {...{ index, id: item.id, isUnread: item.isUnread, labelId: summaryId(item.action.id) }}
      isHidden={item.action.isHidden}
    >
      {children}
    </Article>
  );
}

interface ArticleProps {
  readonly id: string;
  readonly index: number;
  readonly isUnread: boolean;
  readonly isHidden?: boolean;
  readonly kind?: 'notification';
  /** Of the element that labels it. */
  readonly labelId: string;
  readonly children: ReactNode;
}

export function Article({ id, index, isUnread, isHidden, kind, labelId, children }: ArticleProps): ReactNode {
  const words = useCommonWords();
  return (
    <article
      tabIndex={0}
      data-fanfare="item"
      data-item={id}
      data-kind={kind}
      data-unread={isUnread || undefined}
      data-hidden={isHidden === true || undefined}
      aria-labelledby={labelId}
      // The bar at its side tells it to the eye alone.
      aria-description={isUnread ? words.unread : undefined}
      aria-posinset={index + 1}
      aria-setsize={sizeOf(useShared().feed)}
    >
      {children}
    </article>
  );
}

/** −1: not known, as ARIA has it. */
function sizeOf({ total, hasNextPage, hasPreviousPage, items }: AnyList): number {
  if (!hasNextPage && hasPreviousPage !== true) return items.length;
  return total?.isExact === true ? Math.max(total.count, items.length) : -1;
}

/** @param id of an action or a notification */
export function summaryId(id: string): string {
  return `fanfare-${id.replaceAll(/[^\w-]/g, '_')}`;
}

interface NewItemsProps {
  readonly children?: (count: number) => ReactNode;
  /** Takes the focus to the first of them, by its id: for a list other than `<Feed.List>`. */
  readonly onShow?: (id: string | null) => void;
}

/** Says how many wait, shows them, and takes the focus to the first of them. */
export function NewItems({ children, onShow }: NewItemsProps): ReactNode {
  const words = useCommonWords();
  const { feed, listId } = useShared();
  const [target, setTarget] = useState<string | null>(null);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (target === null || place.current === null) return;
    const list = rootOf(place.current).getElementById(listId);
    const element = list?.querySelector(`[data-item="${CSS.escape(target)}"]`);
    if (!(element instanceof HTMLElement)) return;
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: 'nearest' });
    setTarget(null);
  }, [target, listId, feed.items]);
  const { count = 0, show } = feed.pending ?? {};
  return (
    <div ref={place} data-fanfare="new-items" data-empty={count === 0 || undefined}>
      {show && count > 0 && (
        <button
          type="button"
          onClick={() => {
            (onShow ?? setTarget)(show());
          }}
        >
          {(children ?? words.newItems)(count)}
        </button>
      )}
    </div>
  );
}

const ANNOUNCE_EVERY_MS = 10_000;

/** Tells a screen reader how many wait, at most every ten seconds. The list itself never speaks. */
export function Announcer({ children }: { readonly children?: (count: number) => string }): ReactNode {
  const words = useCommonWords();
  return <Announced count={useShared().feed.pending?.count ?? 0}>{children ?? words.newItemsSaid}</Announced>;
}

interface AnnouncedProps {
  readonly count: number;
  readonly children: (count: number) => string;
}

/** Says a number that changes, politely. */
export function Announced({ count, children }: AnnouncedProps): ReactNode {
  const [said, setSaid] = useState(0);
  const last = useRef(-ANNOUNCE_EVERY_MS);
  useEffect(() => {
    const wait = Math.max(0, last.current + ANNOUNCE_EVERY_MS - performance.now());
    const timer = setTimeout(() => {
      if (count > 0) last.current = performance.now();
      setSaid(count);
    }, wait);
    return () => {
      clearTimeout(timer);
    };
  }, [count]);
  return (
    <div role="status" data-fanfare="announcer" data-visually-hidden>
      {said > 0 ? children(said) : ''}
    </div>
  );
}

interface LoadMoreProps {
  readonly children?: ReactNode;
  /** False: only when the button is pressed. Default true. */
  readonly whenVisible?: boolean;
  /** Of a list that does not begin at the top, the page above. Default false. */
  readonly above?: boolean;
}

/** Loads the next page when it comes into view, and by its button. */
export function LoadMore({ children, whenVisible = true, above = false }: LoadMoreProps): ReactNode {
  const words = useCommonWords();
  const { feed } = useShared();
  const [hasMore, isLoading, load, word] = above
    ? [feed.hasPreviousPage, feed.isLoadingPrevious, feed.loadPrevious, words.loadPrevious]
    : [feed.hasNextPage, feed.isLoadingMore, feed.loadMore, words.loadMore];
  const button = useRef<HTMLButtonElement>(null);
  const canLoad = hasMore === true && isLoading !== true && whenVisible && feed.error === null;
  useEffect(() => {
    if (!canLoad || button.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        // The last one is how it is now: several changes come together when the page is busy.
        if (entries.at(-1)?.isIntersecting === true) void load?.();
      },
      { rootMargin: '600px' },
    );
    observer.observe(button.current);
    return () => {
      observer.disconnect();
    };
  }, [canLoad, load]);
  if (hasMore !== true) return null;
  return (
    <button
      ref={button}
      type="button"
      data-fanfare="load-more"
      aria-disabled={isLoading}
      onClick={({ currentTarget }) => {
        leaveBefore(currentTarget);
        void load?.();
      }}
    >
      {children ?? word}
    </button>
  );
}

interface Message {
  readonly children: ReactNode;
}

export function Empty({ children }: Message): ReactNode {
  const { feed } = useShared();
  const isEmpty = feed.status === 'ready' && feed.items.length === 0 && !feed.hasNextPage;
  return isEmpty ? <div data-fanfare="empty">{children}</div> : null;
}

export function End({ children }: Message): ReactNode {
  const { feed } = useShared();
  const isEnd = feed.status === 'ready' && feed.items.length > 0 && !feed.hasNextPage;
  return isEnd ? <div data-fanfare="end">{children}</div> : null;
}

interface ErrorProps {
  readonly children?: (error: Error, retry: () => void) => ReactNode;
}

export function ErrorMessage({ children }: ErrorProps): ReactNode {
  const { feed } = useShared();
  const { retryNow } = useConnection();
  const words = useCommonWords();
  if (feed.error === null) return null;
  const retry = (): void => {
    retryNow();
    void feed.retry();
  };
  return (
    <div role="alert" data-fanfare="error">
      {children?.(feed.error, retry) ?? (
        <>
          <span>{feed.error.message}</span>
          <button
            type="button"
            onClick={({ currentTarget }) => {
              leaveBefore(currentTarget);
              retry();
            }}
          >
            {words.tryAgain}
          </button>
        </>
      )}
    </div>
  );
}

/** Stands where items will be, until the first page is there. */
export function Skeleton({ rows = 5 }: { readonly rows?: number }): ReactNode {
  const { feed } = useShared();
  if (feed.status !== 'loading') return null;
  return (
    <div data-fanfare="skeleton" aria-hidden="true">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} data-fanfare="skeleton-row" />
      ))}
    </div>
  );
}
