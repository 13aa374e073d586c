import {
  Feed,
  Reactions,
  Summary,
  UndoToast,
  useFeed,
  useItemActions,
  useReadMark,
  type FanfareItem,
  type SummaryPart,
  type Undo,
} from '@fanfare/react';
import { useState, type MouseEvent, type ReactNode } from 'react';
import { goTo, hrefTo, useRoute } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { shownNumber } from '../ui/count.ts';
import { Time } from '../ui/time.tsx';
import { VirtualFeed, type FocusTarget } from '../ui/virtual-feed.tsx';

const FEED = `query Feed($first: Int, $order: FeedOrder, $filter: FeedFilter) {
  feed(first: $first, order: $order, filter: $filter) {
    edges { node { id relevancy reasons isUnread action { id conducted descriptor { type summary } } } }
    unread { count isExact } pageInfo { hasNextPage endCursor } liveCursor } }`;
const ORDERS = ['RELEVANCY', 'RECENT', 'TOP'] as const;
const SHOWN = ['feed', 'unread', 'archived', 'snoozed'] as const;

export function hrefOfPart({ member, ref }: SummaryPart): string | undefined {
  const id = member?.memberId ?? ref?.refId;
  return id === undefined ? undefined : hrefTo('slice', id);
}

export function FeedScreen(): ReactNode {
  const { query } = useRoute();
  const order = ORDERS.find((one) => one === query.get('order')) ?? 'RELEVANCY';
  const shown = SHOWN.find((one) => one === query.get('show')) ?? 'feed';
  const tag = query.get('tag') ?? '';
  const asked = {
    order,
    first: 50,
    filter: {
      ...(shown === 'unread' ? { unreadOnly: true } : {}),
      ...(shown === 'archived' ? { archived: true } : {}),
      ...(shown === 'snoozed' ? { snoozed: true } : {}),
      ...(tag === '' ? {} : { tags: [tag] }),
    },
  };
  const feed = useFeed(asked);
  const { markAllRead, findFirstUnread } = useReadMark(feed);
  const [target, setTarget] = useState<FocusTarget | null>(null);
  const [undo, setUndo] = useState<Undo | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const fail = (error: unknown): void => {
    setFailure(error instanceof Error ? error.message : String(error));
  };
  const toFirstUnread = async (): Promise<void> => {
    const id = await findFirstUnread();
    if (id !== null && (await feed.loadUntil(id))) setTarget({ id });
  };
  const set = (change: Readonly<Record<string, string>>): void => {
    goTo('feed', '', { order, show: shown, tag, ...change });
  };
  return (
    <>
      <h1>Feed</h1>
      <div className="filters">
        <label>
          Show
          <select value={shown} onChange={(event) => set({ show: event.target.value })}>
            {SHOWN.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          Order
          <select value={order} onChange={(event) => set({ order: event.target.value })}>
            {ORDERS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <form
          key={tag}
          onSubmit={(event) => {
            event.preventDefault();
            set({ tag: (new FormData(event.currentTarget).get('tag') as string).trim() });
          }}
        >
          <label>
            Tag
            <input name="tag" size={12} defaultValue={tag} />
          </label>
        </form>
        <button type="button" onClick={() => void markAllRead().catch(fail)}>
          Mark all read
        </button>
        <button type="button" onClick={() => void toFirstUnread().catch(fail)}>
          First unread
        </button>
        {feed.status !== 'error' && (
          <span className="quiet">
            {`${shownNumber(feed.unread.count)}${feed.unread.isExact ? '' : '+'} unread`}
          </span>
        )}
      </div>
      {feed.state === 'REBUILDING' && <p className="quiet">This feed is being rebuilt.</p>}
      {failure !== null && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
      <Feed.Root feed={feed}>
        <Feed.NewItems onShow={(id) => setTarget(id === null ? null : { id })} />
        <Feed.Announcer />
        <Feed.Skeleton />
        <Feed.Error />
        <VirtualFeed {...{ feed, target }} label="Feed">
          {(item) => <Entry item={item} onUndo={setUndo} onError={fail} />}
        </VirtualFeed>
        <Feed.Empty>
          <Nothing {...{ shown, tag }} />
        </Feed.Empty>
        <Feed.End>That is all.</Feed.End>
      </Feed.Root>
      <AsCode query={FEED} variables={asked} />
      <UndoToast last={undo} onClose={() => setUndo(null)} onError={fail} />
    </>
  );
}

/** What to do where nothing is: of a filter, to take it away. */
function Nothing({ shown, tag }: { readonly shown: string; readonly tag: string }): ReactNode {
  if (shown === 'feed' && tag === '')
    return (
      <>
        Nothing here. <a href={hrefTo('slice')}>Follow something</a>, or{' '}
        <a href={hrefTo('publish')}>publish an action</a> that mentions you.
      </>
    );
  return (
    <>
      Nothing{shown === 'feed' ? '' : ` ${shown}`}
      {tag === '' ? '' : ` with the tag ${tag}`}. <a href={hrefTo('feed')}>Show the whole feed</a>
    </>
  );
}

interface EntryProps {
  readonly item: FanfareItem;
  readonly onUndo: (undo: Undo) => void;
  readonly onError: (error: unknown) => void;
}

function Entry({ item, onUndo, onError }: EntryProps): ReactNode {
  const { action } = item;
  const { hide, archive, unarchive } = useItemActions(item);
  /** The next item moves to where this one was: the second click of a double click would take that one away too. */
  const take = ({ detail: clicks }: MouseEvent, change: () => Promise<Undo>): void => {
    if (clicks <= 1) void change().then(onUndo, onError);
  };
  return (
    <>
      <Summary item={item} hrefOf={hrefOfPart} />
      <p className="meta">
        <a href={hrefTo('action', action.id)}>
          <Time at={action.conducted} />
        </a>
        <span>{action.descriptor.type}</span>
        <span>{item.reasons.join(', ').toLowerCase()}</span>
        {action.descriptor.tags.map((tag) => (
          <a key={tag} href={hrefTo('feed', '', { tag })}>
            #{tag}
          </a>
        ))}
      </p>
      <div className="buttons">
        <Reactions actionId={action.id} onError={onError} />
        <button type="button" onClick={(event) => take(event, hide)}>
          Hide
        </button>
        <button type="button" onClick={(event) => take(event, item.isArchived ? unarchive : archive)}>
          {item.isArchived ? 'Unarchive' : 'Archive'}
        </button>
      </div>
    </>
  );
}
