import '../later.css';
import { useUnreadCount } from '@fanfare/react';
import { useLists, useViews } from '@fanfare/react/more';
import { useEffect, type ReactNode } from 'react';
import { shownNumber } from './count.ts';

interface Chosen {
  readonly view: string;
  readonly list: string;
  readonly order: string;
  readonly show: string;
}

interface Props {
  /** Name of the view, or id of the list, that is shown; empty: the whole feed. */
  readonly chosen: string;
  readonly hrefOf: (chosen: Chosen) => string;
}

const WHOLE: Chosen = { view: '', list: '', order: '', show: '' };

/** The views of the configuration and the lists that the reader has made, with what is unread of each. */
export function Views({ chosen, hrefOf }: Props): ReactNode {
  const { views, reload: countViews } = useViews();
  const { lists, reload: countLists } = useLists();
  const unread = useUnreadCount()?.count;
  useEffect(() => {
    if (views.length > 0) countViews();
    if (lists.length > 0) countLists();
    // What is unread of the whole feed tells when to count again.
  }, [unread]);
  if (views.length === 0 && lists.length === 0) return null;
  const all = [
    ...views.map(({ name, label, order, isGrouped, unread }) => ({
      ...{ id: name, label, unread },
      // Where new items go follows from the order.
      to: { ...WHOLE, view: name, order: order ?? 'TOP', show: isGrouped ? 'groups' : '' },
    })),
    ...lists.map(({ id, name, unread }) => ({ id, label: name, unread, to: { ...WHOLE, list: id } })),
  ];
  return (
    <nav className="tabs views" aria-label="Views">
      <a href={hrefOf(WHOLE)} aria-current={chosen === '' ? 'true' : undefined}>
        Everything
      </a>
      {all.map(({ id, label, unread: { count, isExact }, to }) => (
        <a key={id} href={hrefOf(to)} aria-current={chosen === id ? 'true' : undefined}>
          <bdi>{label}</bdi>{' '}
          <span className="quiet">{count === 0 ? '' : `${shownNumber(count)}${isExact ? '' : '+'}`}</span>
        </a>
      ))}
    </nav>
  );
}
