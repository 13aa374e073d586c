import '../later.css';
import { useReadMark, type FanfareItem, type FeedState } from '@fanfare/react';
import { ItemMenu as Menu } from '@fanfare/react/more';
import type { ReactNode } from 'react';
import { goTo, hrefTo } from '../route.ts';

interface MenuProps {
  readonly item: FanfareItem;
  readonly feed: FeedState;
  readonly onError: (error: unknown) => void;
}

/** What one may do with an item of the feed. */
export function ItemMenu({ item, feed, onError }: MenuProps): ReactNode {
  const { markRead, markUnread } = useReadMark(feed);
  const { id } = item.action;
  return (
    <Menu {...{ item, onError }} link={hrefTo('action', id)}>
      {(close) => (
        <>
          <button
            type="button"
            role="menuitem"
            tabIndex={-1}
            onClick={() => {
              close();
              (item.isUnread ? markRead : markUnread)([item]).catch(onError);
            }}
          >
            {item.isUnread ? 'Mark as read' : 'Mark as unread'}
          </button>
          <button type="button" role="menuitem" tabIndex={-1} onClick={() => goTo('action', id)}>
            Why it is here
          </button>
        </>
      )}
    </Menu>
  );
}
