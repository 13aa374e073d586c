import type { FanfareItem, FeedState } from '@fanfare/react';
import { focusOutside } from '@fanfare/react/more';
import { defaultRangeExtractor, useWindowVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import {
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { placeOfEntry, shownEntry } from '../place.ts';
import { useRoute } from '../route.ts';

const ROW_PX = 76;
/** Number of rows before the end at which the next page is requested. */
const AHEAD = 15;
/** Top of the button for new items, below the head of the page. */
const BUTTON_PX = 48;
/** Of the line at the top of the page. */
const HEAD_PX = 52;

/** Row heights of the last list, so that everything is in place on the way back, and where the keys were. */
let left: {
  readonly entry: string;
  readonly rows: VirtualItem[];
  readonly margin: number;
  readonly focused: string | null;
} | null = null;

/** An article to focus. A new object requests the focus again. */
export interface FocusTarget {
  readonly id: string;
}

interface Props {
  readonly feed: FeedState;
  readonly label: string;
  readonly target: FocusTarget | null;
  readonly children: (item: FanfareItem) => ReactNode;
}

interface RowProps extends Pick<Props, 'children'> {
  readonly item: FanfareItem;
  readonly index: number;
  /** Of the list; −1: not known yet. */
  readonly size: number;
  readonly measure: (article: Element | null) => void;
}

/** While one scrolls, those that stay in view are not drawn again. */
const Row = memo(function Row({ item, index, size, measure, children }: RowProps): ReactNode {
  return (
    <article
      ref={measure}
      tabIndex={0}
      data-index={index}
      data-fanfare="item"
      data-item={item.id}
      data-unread={item.isUnread || undefined}
      data-hidden={item.action.isHidden || undefined}
      aria-label={item.action.descriptor.summary}
      aria-description={item.isUnread ? 'unread' : undefined}
      aria-posinset={index + 1}
      aria-setsize={size}
    >
      {children(item)}
    </article>
  );
});

/** A list of any length: only rows in view are in the page. They keep their place while items are inserted above. */
export function VirtualFeed({ feed, label, target, children }: Props): ReactNode {
  const { items, hasNextPage, isLoadingMore, error, loadMore } = feed;
  const list = useRef<HTMLDivElement>(null);
  const focused = useRef<{ readonly id: string; index: number; readonly isByKeys: boolean } | null>(null);
  const [leftHere] = useState(() => (left?.entry === shownEntry() ? left : null));
  const [before] = useState(() => (placeOfEntry() > 0 ? leftHere : null));
  const margin = useOffsetTop(list, before?.margin ?? 0, children);
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => ROW_PX,
    overscan: 8,
    // The same until the items change: another one measures all of them again.
    getItemKey: useCallback((at: number) => items[at]?.id ?? at, [items]),
    // Rows are placed, and the list gets its height, without drawing: for what was measured nothing is drawn again.
    directDomUpdates: true,
    scrollMargin: margin,
    scrollPaddingStart: HEAD_PX + BUTTON_PX,
    initialOffset: placeOfEntry,
    // The focused row stays, however far it is scrolled away.
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      const at = focused.current?.index;
      return at === undefined || at >= items.length || shown.includes(at)
        ? shown
        : [...shown, at].sort((a, b) => a - b);
    },
    ...(before === null ? {} : { initialMeasurementsCache: before.rows }),
  });
  const attach = useCallback(
    (element: HTMLDivElement | null) => {
      list.current = element;
      rows.containerRef(element);
    },
    [rows],
  );
  const drawnEntry = shownEntry();
  const { screen } = useRoute();
  const entry = useRef(drawnEntry);
  useLayoutEffect(() => {
    // The entry of the last drawing: when the list is removed, or drawn once more before that, the address already belongs to
    // the next screen.
    if (screen === 'feed') entry.current = drawnEntry;
  });
  useEffect(
    () => () => {
      left = {
        ...{ entry: entry.current, rows: rows.takeSnapshot(), margin: rows.options.scrollMargin },
        // After a click somewhere nothing has to wait for who has gone on with the pointer.
        focused: focused.current?.isByKeys === true ? focused.current.id : null,
      };
    },
    [rows],
  );
  const toFocus = useRef(leftHere?.focused ?? null);
  useEffect(() => {
    // Not before the feed has been loaded, and not after the reader has gone on elsewhere.
    const article = toFocus.current === null ? null : articleOf(list.current, toFocus.current);
    if (article === null) return;
    toFocus.current = null;
    if (['main', 'body'].includes(document.activeElement?.localName ?? 'body'))
      article.focus({ preventScroll: true });
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasNextPage && !isLoadingMore && error === null && last >= items.length - AHEAD) void loadMore();
  }, [hasNextPage, isLoadingMore, error, last, items.length, loadMore]);
  useKeptPlace(items, rows, margin);

  const focusOn = (index: number): void => {
    const id = items[index]?.id;
    if (id === undefined) return;
    rows.scrollToIndex(index, { align: 'auto' });
    void untilDrawn(() => articleOf(list.current, id)).then((article) =>
      article?.focus({ preventScroll: true }),
    );
  };
  useLayoutEffect(() => {
    const lastFocus = focused.current;
    if (lastFocus === null) return;
    const index =
      items[lastFocus.index]?.id === lastFocus.id
        ? lastFocus.index
        : items.findIndex(({ id }) => id === lastFocus.id);
    if (index !== -1) {
      lastFocus.index = index;
      return;
    }
    // The item was removed: the next one gets the focus.
    focused.current = null;
    const { activeElement } = document;
    if (activeElement === document.body || activeElement === null || isInMenu(activeElement))
      focusOn(Math.min(lastFocus.index, items.length - 1));
  }, [items]);
  const reached = useRef<FocusTarget | null>(null);
  useEffect(() => {
    // Once per target, when its article exists.
    const index =
      target === null || target === reached.current ? -1 : items.findIndex(({ id }) => id === target.id);
    if (index === -1) return;
    reached.current = target;
    focusOn(index);
  }, [target, items]);

  const onKey = (event: KeyboardEvent<HTMLDivElement>): void => {
    const { key, ctrlKey, currentTarget } = event;
    const by = key === 'PageDown' ? 1 : key === 'PageUp' ? -1 : 0;
    if (by !== 0) focusOn(Math.max(0, Math.min(items.length - 1, (focused.current?.index ?? -1) + by)));
    else if (ctrlKey && (key === 'Home' || key === 'End'))
      focusOutside(currentTarget, key === 'Home' ? 'before' : 'after');
    else return;
    event.preventDefault();
  };
  const isBusy = isLoadingMore || feed.status === 'loading';
  return (
    <div
      ref={attach}
      // A feed needs at least one article, unless it is about to get one.
      role={isBusy || items.length > 0 ? 'feed' : 'group'}
      aria-label={label}
      aria-busy={isBusy}
      data-fanfare="list"
      className="virtual"
      onKeyDown={onKey}
      onFocus={({ target: element }) => {
        const { item: id, index } = element.closest('article')?.dataset ?? {};
        const isByKeys = element.matches(':focus-visible');
        focused.current = id === undefined ? null : { id, index: Number(index), isByKeys };
      }}
      onBlur={({ relatedTarget }) => {
        // A removed element emits no blur event; the remaining one does.
        if (relatedTarget !== null && !isInMenu(relatedTarget)) focused.current = null;
      }}
    >
      {shown.map(({ key, index }) => {
        const item = items[index];
        const size = hasNextPage ? -1 : items.length;
        return item === undefined ? null : (
          <Row key={key} {...{ item, index, size, measure: rows.measureElement }}>
            {children}
          </Row>
        );
      })}
    </div>
  );
}

/** The menu of an item is not in it. */
function isInMenu(element: Element): boolean {
  return element.closest('[role="menu"]') !== null;
}

function articleOf(list: HTMLElement | null, id: string): HTMLElement | null {
  return list?.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`) ?? null;
}

/** Scrolling and drawing may take a few frames in a long list. */
async function untilDrawn(find: () => HTMLElement | null): Promise<HTMLElement | null> {
  for (let frame = 0; frame < 60; frame += 1) {
    const found = find();
    if (found !== null) return found;
    await new Promise(requestAnimationFrame);
  }
  return null;
}

/**
 * Distance of the list from the top of the page, which changes with the contents above it.
 * @param drawn another one for each drawing of what is around the list: while one scrolls, the page is not asked for it
 */
function useOffsetTop(
  list: { readonly current: HTMLElement | null },
  initial: number,
  drawn: unknown,
): number {
  const [top, setTop] = useState(initial);
  const measure = (): void => setTop((before) => list.current?.offsetTop ?? before);
  useLayoutEffect(measure, [drawn]);
  useEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => {
      observer.disconnect();
    };
    // The result does not depend on the drawing it is measured in.
  }, []);
  return top;
}

interface Kept {
  readonly items: readonly FanfareItem[];
  readonly id: string;
  readonly index: number;
  readonly start: number;
  readonly margin: number;
}

/** After a change of items, or of contents above the list: scrolls by the distance that the first item in view has moved. */
function useKeptPlace(
  items: readonly FanfareItem[],
  rows: ReturnType<typeof useWindowVirtualizer<Element>>,
  margin: number,
): void {
  const kept = useRef<Kept | null>(null);
  const [shown, all] = [rows.getVirtualItems(), rows.measurementsCache];
  // Where the list is scrolled to, as it knows it: asked for it, the page would be laid out within each drawing.
  const top = rows.scrollOffset ?? 0;
  useLayoutEffect(() => {
    const before = kept.current;
    if (before !== null && top > margin) {
      const index = before.items === items ? before.index : items.findIndex(({ id }) => id === before.id);
      const start = all[index]?.start;
      // If nothing above it changed, the virtualizer corrects for estimated heights.
      const moved =
        index === before.index || start === undefined ? margin - before.margin : start - before.start;
      if (moved !== 0) window.scrollBy(0, moved);
    }
    const first = shown.find(({ end }) => end > top);
    const id = first === undefined ? undefined : items[first.index]?.id;
    kept.current =
      // Not before the position of the list is known.
      first === undefined || id === undefined || margin === 0
        ? null
        : { items, id, index: first.index, start: first.start, margin };
  });
}
