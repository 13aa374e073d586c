import {
  Feed,
  UndoToast,
  useFeed,
  useItemActions,
  useReadMark,
  type FanfareItem,
  type FeedState,
  type Undo,
} from '@fanfare/react';
import {
  AlarmClock,
  Archive,
  ArchiveRestore,
  Ellipsis,
  EyeOff,
  Inbox,
  Link as LinkIcon,
  Mail,
  MailOpen,
} from 'lucide-react';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { ownCommand } from '../own-command.ts';
import { goTo, hrefTo, useRoute } from '../route.ts';
import { shownNumber } from '../ui/count.ts';
import { EngagementButtons, Entry } from '../ui/entry.tsx';
import type { Choice } from '../ui/menu.tsx';
import { useKnownItems } from '../ui/said.ts';
import { Teach } from '../ui/states.tsx';
import { VirtualFeed, type FocusTarget } from '../ui/virtual-feed.tsx';
import { reasonFor, titled, wordFor } from '../ui/words.ts';
import { t } from '../words/language.ts';

const ChoiceMenu = lazy(async () => ({ default: (await import('../ui/menu.tsx')).ChoiceMenu }));
/** Without it the feed is there all the same. */
const AsCode = lazy(() =>
  import('../ui/as-code.tsx').then(
    ({ AsCode: Show }) => ({ default: Show }),
    () => ({ default: () => null }),
  ),
);
const Thread = lazy(async () => ({ default: (await import('../ui/thread.tsx')).Thread }));
const GroupList = lazy(async () => ({ default: (await import('../ui/groups.tsx')).GroupList }));

const FEED = `query Feed($first: Int, $order: FeedOrder, $filter: FeedFilter) {
  feed(first: $first, order: $order, filter: $filter) {
    edges { node { id relevancy reasons isUnread action { id conducted descriptor { type summary } } } }
    unread { count isExact } pageInfo { hasNextPage endCursor } liveCursor } }`;
const ORDERS = ['RELEVANCY', 'RECENT', 'TOP'] as const;
const SHOWN = [
  ['feed', 'All'],
  ['unread', 'Unread'],
  ['groups', 'Grouped'],
  ['archived', 'Archived'],
  ['snoozed', 'Snoozed'],
] as const;

export function FeedScreen(): ReactNode {
  const { query } = useRoute();
  const order = ORDERS.find((one) => one === query.get('order')) ?? 'RELEVANCY';
  const shown = SHOWN.find(([one]) => one === query.get('show'))?.[0] ?? 'feed';
  const tag = query.get('tag') ?? '';
  const set = (change: Readonly<Record<string, string>>): string =>
    hrefTo('feed', '', { order, show: shown, tag, ...change });
  const filters = (
    <>
      <nav className="tabs" aria-label="Show">
        {SHOWN.map(([name, title]) => (
          <a key={name} href={set({ show: name })} aria-current={name === shown ? 'true' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      {shown !== 'groups' && (
        <select
          aria-label="Order"
          value={order}
          onChange={(event) => goTo('feed', '', { order: event.target.value, show: shown, tag })}
        >
          {ORDERS.map((one) => (
            <option key={one} value={one}>
              {wordFor(one)}
            </option>
          ))}
        </select>
      )}
      <form
        key={tag}
        onSubmit={(event) => {
          event.preventDefault();
          const given = (new FormData(event.currentTarget).get('tag') as string).trim();
          goTo('feed', '', { order, show: shown, tag: given });
        }}
      >
        <input name="tag" size={9} aria-label="Tag" placeholder="# tag" defaultValue={tag} />
      </form>
    </>
  );
  if (shown !== 'groups') return <Items {...{ order, shown, tag, filters }} />;
  return (
    <>
      <div className="filters">{filters}</div>
      <Suspense fallback={<div className="loading" role="status" aria-label="Loading" />}>
        <GroupList tag={tag} />
      </Suspense>
    </>
  );
}

interface ItemsProps {
  readonly order: (typeof ORDERS)[number];
  readonly shown: (typeof SHOWN)[number][0];
  readonly tag: string;
  readonly filters: ReactNode;
}

function Items({ order, shown, tag, filters }: ItemsProps): ReactNode {
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
  const [target, setTarget] = useState<FocusTarget | null>(null);
  const [undo, setUndo] = useState<Undo | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [menu, setMenu] = useState<{ readonly item: FanfareItem; readonly at: HTMLElement } | null>(null);
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
                  <EngagementButtons
                    actionId={item.action.id}
                    onError={fail}
                    thread={{
                      isOpen: open.has(item.action.id),
                      toggle: () => toggle(item.action.id),
                    }}
                  >
                    <button
                      type="button"
                      title="More"
                      aria-haspopup="menu"
                      aria-expanded={menu?.item.id === item.id}
                      onClick={({ currentTarget }) => setMenu({ item, at: currentTarget })}
                    >
                      <Ellipsis aria-hidden="true" />
                      <span data-visually-hidden>More</span>
                    </button>
                  </EngagementButtons>
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
          <Nothing {...{ shown, tag }} />
        </Feed.Empty>
        <Feed.End>That is all.</Feed.End>
      </Feed.Root>
      {menu !== null && (
        <Suspense>
          <ItemMenu {...menu} feed={feed} onUndo={setUndo} onError={fail} onClose={() => setMenu(null)} />
        </Suspense>
      )}
      <Suspense>
        <AsCode query={FEED} variables={asked} />
      </Suspense>
      <UndoToast last={undo} onClose={() => setUndo(null)} onError={fail} />
    </>
  );
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
      <span className="quiet">
        {feed.status === 'error'
          ? ''
          : `${shownNumber(feed.unread.count)}${feed.unread.isExact ? '' : '+'} unread`}
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

interface MenuProps {
  readonly item: FanfareItem;
  readonly at: HTMLElement;
  readonly feed: FeedState;
  readonly onUndo: (undo: Undo) => void;
  readonly onError: (error: unknown) => void;
  readonly onClose: () => void;
}

function ItemMenu({ item, at, feed, onUndo, onError, onClose }: MenuProps): ReactNode {
  const { hide, archive, unarchive, snooze } = useItemActions(item);
  const { markRead, markUnread } = useReadMark(feed);
  const take = (change: () => Promise<Undo>) => (): void => {
    change().then(onUndo, onError);
  };
  const choices: Choice[] = [
    item.isUnread
      ? { title: 'Mark as read', icon: MailOpen, onChoose: () => void markRead([item]).catch(onError) }
      : { title: 'Mark as unread', icon: Mail, onChoose: () => void markUnread([item]).catch(onError) },
    {
      ...{ title: 'Snooze until tomorrow', icon: AlarmClock },
      onChoose: take(() => snooze(tomorrow())),
    },
    item.isArchived
      ? { title: 'Unarchive', icon: ArchiveRestore, onChoose: take(unarchive) }
      : { title: 'Archive', icon: Archive, onChoose: take(archive) },
    { title: 'Hide', icon: EyeOff, onChoose: take(hide) },
    { title: 'Why it is here', icon: LinkIcon, onChoose: () => goTo('action', item.action.id) },
  ];
  return <ChoiceMenu {...{ at, choices, onClose }} />;
}

/** At this time of the day. */
function tomorrow(): Date {
  const day = new Date();
  day.setDate(day.getDate() + 1);
  return day;
}

interface NothingProps {
  readonly shown: string;
  readonly tag: string;
}

/** What to do where nothing is: of a filter, to take it away. */
function Nothing({ shown, tag }: NothingProps): ReactNode {
  if (shown === 'feed' && tag === '')
    return (
      <div className="empty">
        <Teach icon={Inbox} title="Nothing here." code={`${ownCommand()} demo`}>
          What people and things do that you follow comes here as it happens.{' '}
          <a href={hrefTo('directory')}>Follow something</a>,{' '}
          <a href={hrefTo('publish')}>publish an action</a> that mentions you, or let people of a story do
          something:
        </Teach>
      </div>
    );
  return (
    <>
      Nothing{shown === 'feed' ? '' : ` ${shown}`}
      {tag === '' ? '' : ` with the tag ${tag}`}. <a href={hrefTo('feed')}>Show the whole feed</a>
    </>
  );
}
