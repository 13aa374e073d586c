import type { FanfareItem, FeedState } from '@fanfare/react';
import { useWindowVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { placeOfEntry } from '../place.ts';

const ROW_PX = 116;
/** Rows before the end at which the next page is asked for. */
const AHEAD = 15;

/** Of the list that was left last: the heights of its rows, so that on the way back all of it is where it was. */
let left: { readonly address: string; readonly rows: VirtualItem[]; readonly margin: number } | null = null;

interface Props {
  readonly feed: FeedState;
  readonly label: string;
  readonly children: (item: FanfareItem) => ReactNode;
}

/** A list of any length: only what is in view is in the page. What is in view stays where it is while items come above. */
export function VirtualFeed({ feed, label, children }: Props): ReactNode {
  const { items, hasNextPage, isLoadingMore, error, loadMore } = feed;
  const list = useRef<HTMLDivElement>(null);
  const [before] = useState(() => (left?.address === location.hash && placeOfEntry() > 0 ? left : null));
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => ROW_PX,
    overscan: 8,
    getItemKey: (at) => items[at]?.id ?? at,
    scrollMargin: list.current?.offsetTop ?? before?.margin ?? 0,
    initialOffset: placeOfEntry,
    ...(before === null ? {} : { initialMeasurementsCache: before.rows }),
  });
  const address = useRef('');
  useEffect(() => {
    // Its filters are in the address, and change while it is shown.
    address.current = location.hash;
  });
  useEffect(
    () => () => {
      left = { address: address.current, rows: rows.takeSnapshot(), margin: rows.options.scrollMargin };
    },
    [rows],
  );
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasNextPage && !isLoadingMore && error === null && last >= items.length - AHEAD) void loadMore();
  }, [hasNextPage, isLoadingMore, error, last, items.length, loadMore]);
  useKeptPlace(items, shown, list);

  const toArticle = (event: KeyboardEvent<HTMLDivElement>): void => {
    const by = event.key === 'PageDown' ? 1 : event.key === 'PageUp' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const article = event.target instanceof Element ? event.target.closest('article') : null;
    const next = Math.max(0, Math.min(items.length - 1, Number(article?.dataset['index'] ?? -1) + by));
    rows.scrollToIndex(next, { align: 'auto' });
    requestAnimationFrame(() => {
      list.current?.querySelector<HTMLElement>(`[data-index="${String(next)}"]`)?.focus();
    });
  };
  return (
    <div
      ref={list}
      role="feed"
      aria-label={label}
      aria-busy={isLoadingMore || feed.status === 'loading'}
      className="virtual"
      style={{ height: rows.getTotalSize() }}
      onKeyDown={toArticle}
    >
      {shown.map(({ key, index, start }) => {
        const item = items[index];
        return item === undefined ? null : (
          <article
            key={key}
            ref={rows.measureElement}
            tabIndex={0}
            data-index={index}
            data-fanfare="item"
            data-item={item.id}
            data-unread={item.isUnread || undefined}
            data-hidden={item.action.isHidden || undefined}
            aria-label={item.action.descriptor.summary}
            aria-posinset={index + 1}
            aria-setsize={hasNextPage ? -1 : items.length}
            style={{ transform: `translateY(${String(start - rows.options.scrollMargin)}px)` }}
          >
            {children(item)}
          </article>
        );
      })}
    </div>
  );
}

/** After items came or went above: scrolls by as much as the first item in view has moved. */
function useKeptPlace(
  items: readonly FanfareItem[],
  shown: readonly { readonly index: number; readonly start: number; readonly end: number }[],
  list: { readonly current: HTMLElement | null },
): void {
  const kept = useRef<{ items: readonly FanfareItem[]; id: string; index: number } | null>(null);
  useLayoutEffect(() => {
    const before = kept.current;
    if (before !== null && before.items !== items && window.scrollY > (list.current?.offsetTop ?? 0)) {
      const index = items.findIndex(({ id }) => id === before.id);
      if (index !== -1 && index !== before.index) window.scrollBy(0, (index - before.index) * ROW_PX);
    }
    const first = shown.find(({ end }) => end > window.scrollY);
    const id = first === undefined ? undefined : items[first.index]?.id;
    kept.current = first === undefined || id === undefined ? null : { items, id, index: first.index };
  });
}
