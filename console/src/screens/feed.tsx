import { Feed, Reactions, UndoToast, useFeed, useReadMark, type FeedState } from '@fanfare/react';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { goTo, hrefTo, useRoute } from '../route.ts';
import { shownNumber } from '../ui/count.ts';
import { Entry } from '../ui/entry.tsx';
import { useKnownItems } from '../ui/said.ts';
import { VirtualFeed, type FocusTarget } from '../ui/virtual-feed.tsx';
import { reasonFor, titled, wordFor } from '../ui/words.ts';
import { t } from '../words/language.ts';

const Nothing = lazy(async () => ({ default: (await import('../ui/nothing.tsx')).Nothing }));
const ItemMenu = lazy(async () => ({ default: (await import('../ui/item-menu.tsx')).ItemMenu }));
/** Without it the feed is there all the same. */
const FeedCode = lazy(() =>
  import('../ui/feed-code.tsx').then(
    ({ FeedCode: Show }) => ({ default: Show }),
    () => ({ default: () => null }),
  ),
);
const Thread = lazy(async () => ({ default: (await import('../ui/thread.tsx')).Thread }));
/** Without them the feed is there all the same. */
const Views = lazy(() =>
  import('../ui/views.tsx').then(
    ({ Views: Show }) => ({ default: Show }),
    () => ({ default: () => null }),
  ),
);
const GroupList = lazy(async () => ({ default: (await import('../ui/groups.tsx')).GroupList }));

const ORDERS = ['RELEVANCY', 'RECENT', 'TOP'] as const;
const SHOWN = [
  ['feed', 'All'],
  ['unread', 'Unread'],
  ['groups', 'Grouped'],
  ['archived', 'Archived'],
  ['snoozed', 'Snoozed'],
] as const;

/** Which list is shown; it is in the address. */
interface Asked {
  readonly order: string;
  readonly show: string;
  readonly tag: string;
  readonly text: string;
  /** Of the configuration; empty: none. */
  readonly view: string;
  /** Id of a list of one's own; empty: none. */
  readonly list: string;
}

function useAsked(): Asked {
  const { query } = useRoute();
  const of = (name: string): string => query.get(name) ?? '';
  return {
    order: ORDERS.find((one) => one === of('order')) ?? 'RELEVANCY',
    show: SHOWN.find(([one]) => one === of('show'))?.[0] ?? 'feed',
    ...{ tag: of('tag'), text: of('text'), view: of('view'), list: of('list') },
  };
}

export function FeedScreen(): ReactNode {
  const asked = useAsked();
  const { order, show, view } = asked;
  const set = (change: Partial<Asked>): string => hrefTo('feed', '', { ...asked, ...change });
  const filters = (
    <>
      <nav className="tabs" aria-label="Show">
        {SHOWN.map(([name, title]) => (
          <a key={name} href={set({ show: name })} aria-current={name === show ? 'true' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      {show !== 'groups' && view === '' && (
        <select
          aria-label="Order"
          value={order}
          onChange={(event) => goTo('feed', '', { ...asked, order: event.target.value })}
        >
          {ORDERS.map((one) => (
            <option key={one} value={one}>
              {wordFor(one)}
            </option>
          ))}
        </select>
      )}
      <Given asked={asked} name="tag" label="Tag" placeholder="# tag" />
      <Given asked={asked} name="text" label="Find" placeholder="Find" />
    </>
  );
  return (
    <>
      <Suspense>
        <Views chosen={view === '' ? asked.list : view} hrefOf={set} />
      </Suspense>
      {show === 'groups' ? (
        <>
          <div className="filters">{filters}</div>
          <Suspense fallback={<div className="loading" role="status" aria-label="Loading" />}>
            <GroupList {...listOf(asked)} />
          </Suspense>
        </>
      ) : (
        <Items {...{ asked, filters }} />
      )}
    </>
  );
}

interface GivenProps {
  readonly asked: Asked;
  readonly name: 'tag' | 'text';
  readonly label: string;
  readonly placeholder: string;
}

/** A filter that is typed: Enter takes it. */
function Given({ asked, name, label, placeholder }: GivenProps): ReactNode {
  const value = asked[name];
  return (
    <form
      key={value}
      role={name === 'text' ? 'search' : undefined}
      onSubmit={(event) => {
        event.preventDefault();
        const given = (new FormData(event.currentTarget).get(name) as string).trim();
        goTo('feed', '', { ...asked, [name]: given });
      }}
    >
      <input {...{ name, placeholder }} size={7} maxLength={100} aria-label={label} defaultValue={value} />
    </form>
  );
}

/** Which list the API is asked for. */
function listOf({ tag, text, view, list }: Asked) {
  return {
    ...(view !== '' && { view }),
    ...(view === '' && list !== '' && { listId: list }),
    filter: { ...(tag !== '' && { tags: [tag] }), ...(text !== '' && { text }) },
  };
}

interface ItemsProps {
  readonly asked: Asked;
  readonly filters: ReactNode;
}

function Items({ asked: given, filters }: ItemsProps): ReactNode {
  const { show, tag, text } = given;
  const list = listOf(given);
  const asked = {
    ...{ ...list, order: given.order as (typeof ORDERS)[number], first: 50 },
    ...(text !== '' && { total: true }),
    filter: {
      ...list.filter,
      ...(show === 'unread' ? { unreadOnly: true } : {}),
      ...(show === 'archived' ? { archived: true } : {}),
      ...(show === 'snoozed' ? { snoozed: true } : {}),
    },
  };
  const feed = useFeed(asked);
  const [target, setTarget] = useState<FocusTarget | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const fail = (error: unknown): void => {
    setFailure(error instanceof Error ? error.message : String(error));
  };
  const toggle = (id: string): void => {
    setOpen((all) => {
      const next = new Set(all);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  };
  const items = useKnownItems(feed.items);
  // The next page is asked for when all of this one is shown.
  const known = { ...feed, items, hasNextPage: feed.hasNextPage && items.length === feed.items.length };
  return (
    <>
      <div className="filters">
        {filters}
        <ReadMarks {...{ feed }} onTarget={setTarget} onError={fail} />
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
        {items.length === 0 && feed.items.length > 0 ? (
          <div className="loading" role="status" aria-label="Loading" />
        ) : (
          <VirtualFeed {...{ target }} feed={known} label="Feed">
            {(item) => (
              <Entry
                action={item.action}
                isLifted={item.relevancy > item.action.conducted}
                meta={
                  <>
                    <span>{item.reasons.map((reason) => t(reasonFor(reason))).join(', ')}</span>
                    <span data-kind dir="auto">
                      {titled(item.action.descriptor.type)}
                    </span>
                  </>
                }
                buttons={
                  <Reactions
                    actionId={item.action.id}
                    comments={{
                      isOpen: open.has(item.action.id),
                      toggle: () => toggle(item.action.id),
                    }}
                    onError={fail}
                  >
                    <Suspense fallback={<span data-fanfare="more" />}>
                      <ItemMenu {...{ item, feed }} onError={fail} />
                    </Suspense>
                  </Reactions>
                }
              >
                {open.has(item.action.id) && (
                  <Suspense>
                    <Thread actionId={item.action.id} />
                  </Suspense>
                )}
              </Entry>
            )}
          </VirtualFeed>
        )}
        <Feed.Empty>
          <Suspense>
            <Nothing {...{ show, tag, text }} />
          </Suspense>
        </Feed.Empty>
        <Feed.End>That is all.</Feed.End>
      </Feed.Root>
      <Suspense>
        <FeedCode variables={given.view === '' ? asked : { ...asked, order: undefined }} />
      </Suspense>
      <UndoToast onError={fail} />
    </>
  );
}

/** How many were found, or are unread. */
function saidOf({ total, unread }: FeedState): string {
  if (total === null) return `${shownNumber(unread.count)}${unread.isExact ? '' : '+'} unread`;
  return `${shownNumber(total.count)} found${total.isExact ? '' : '; older ones were not looked at'}`;
}

interface MarksProps {
  readonly feed: FeedState;
  readonly onTarget: (target: FocusTarget) => void;
  readonly onError: (error: unknown) => void;
}

function ReadMarks({ feed, onTarget, onError }: MarksProps): ReactNode {
  const { markAllRead, findFirstUnread } = useReadMark(feed);
  const toFirstUnread = async (): Promise<void> => {
    const id = await findFirstUnread();
    if (id !== null && (await feed.loadUntil(id))) onTarget({ id });
  };
  return (
    <div className="filters marks">
      <span className="quiet" role={feed.total === null ? undefined : 'status'}>
        {feed.status === 'ready' && saidOf(feed)}
      </span>
      <div className="quiet-buttons">
        <button type="button" onClick={() => void markAllRead().catch(onError)}>
          Mark all read
        </button>
        <button type="button" onClick={() => void toFirstUnread().catch(onError)}>
          First unread
        </button>
      </div>
    </div>
  );
}
