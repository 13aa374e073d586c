import { useRef, type ReactNode } from 'react';
import type { FanfareItem } from '../item.ts';
import { useAnchor } from './anchor.ts';
import { useShared, type Identified } from './feed.tsx';
import { moveFocus, useKeptFocus } from './focus.ts';

interface ListProps<Item> {
  readonly label: string;
  /** An item of the list, as `<Feed.Item>`. */
  readonly children: (item: Item, index: number) => ReactNode;
}

/** The list: articles only. PageDown and PageUp go from one to the next, Ctrl+Home and Ctrl+End out of it. */
export function List(props: ListProps<FanfareItem>): ReactNode {
  // Those of the feed around it.
  return <Articles {...props} items={useShared().feed.items as readonly FanfareItem[]} />;
}

export function Articles<Item extends Identified>({
  label,
  items,
  children,
}: ListProps<Item> & { readonly items: readonly Item[] }): ReactNode {
  const { feed, listId } = useShared();
  const list = useRef<HTMLDivElement>(null);
  useAnchor(list, items);
  useKeptFocus(list, items);
  const isBusy = feed.isLoadingMore === true || feed.isLoadingPrevious === true || feed.status === 'loading';
  return (
    <div
      ref={list}
      id={listId}
      // A feed without an article is none, unless it is about to have some.
      role={isBusy || items.length > 0 ? 'feed' : 'group'}
      aria-label={label}
      aria-busy={isBusy}
      data-fanfare="list"
      data-more-above={feed.hasPreviousPage === true || undefined}
      onKeyDown={(event) => {
        if (moveFocus(event.currentTarget, event)) event.preventDefault();
      }}
    >
      {items.map((item, index) => children(item, index))}
    </div>
  );
}
