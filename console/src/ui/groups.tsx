import { Avatar, Summary, type FeedOptions } from '@fanfare/react';
import { useFeedGroups } from '@fanfare/react/more';
import type { ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { AsCode } from './as-code.tsx';
import { counted } from './count.ts';
import { hrefOfPart } from './entry.tsx';
import { States } from './states.tsx';
import { Time } from './time.tsx';

const GROUPS = `query Groups($first: Int, $view: String, $listId: ID, $filter: FeedFilter) {
  feedGroups(first: $first, view: $view, listId: $listId, filter: $filter) {
  edges { node { id relevancy isUnread summary count { count isExact } actors { memberId name } } } pageInfo { hasNextPage endCursor } } }`;

/** What belongs together as one line: who they are, and how many. */
export function GroupList(list: Pick<FeedOptions, 'view' | 'listId' | 'filter'>): ReactNode {
  const asked = { first: 25, ...list };
  const { groups, pending, hasNextPage, loadMore, status, error, refresh } = useFeedGroups(asked);
  return (
    <>
      <div data-fanfare="new-items">
        {pending.count > 0 && (
          <button type="button" onClick={() => void pending.show()}>
            {pending.count} new
          </button>
        )}
      </div>
      <States
        isLoading={status === 'loading'}
        error={error}
        isEmpty={groups.length === 0}
        empty="Nothing to put together yet."
        onRetry={() => void refresh()}
      >
        <ul className="actions">
          {groups.map(({ id, actors, items, count, isUnread, relevancy, summaryParts, summary }) => (
            <li key={id} data-unread={isUnread || undefined}>
              <span className="avatars">
                {actors.map(({ memberId, name, imageUrl }) => (
                  <Avatar key={memberId} id={memberId} name={name} src={imageUrl} />
                ))}
              </span>
              <div>
                <Summary
                  item={{ action: { id, descriptor: { summary, summaryParts } } as never }}
                  hrefOf={hrefOfPart}
                />
                <p className="meta">
                  {isUnread && <span className="state">unread</span>}
                  {items[0] !== undefined && (
                    <a href={hrefTo('action', items[0].action.id)}>
                      {counted(count.count, 'action')}
                      {count.isExact ? '' : '+'}, the latest
                    </a>
                  )}
                  <Time at={relevancy} />
                </p>
              </div>
            </li>
          ))}
        </ul>
      </States>
      {hasNextPage && (
        <button type="button" onClick={() => void loadMore()}>
          Earlier
        </button>
      )}
      <AsCode query={GROUPS} variables={asked} />
    </>
  );
}
