import {
  ConnectionNotice,
  Feed,
  Reactions,
  Summary,
  Time,
  UndoToast,
  useConnection,
  useFeed,
  useItemActions,
  type FanfareItem,
  type Undo,
} from '@fanfare/react';
import { CommentThread, InboxPopover, Notifications, useAutoRead, useExplain } from '@fanfare/react/more';
import { useState, type ReactNode } from 'react';
import { Bookmarks, Groups, Hidden, Mutes, Page } from './views.tsx';

const VIEWS = ['feed', 'groups', 'bookmarks', 'hidden', 'mutes', 'page'] as const;
type View = (typeof VIEWS)[number];

export function App(): ReactNode {
  const [view, setView] = useState<View>('feed');
  return (
    <>
      <header>
        <nav aria-label="Views">
          {VIEWS.map((name) => (
            <button key={name} type="button" aria-pressed={name === view} onClick={() => setView(name)}>
              {name}
            </button>
          ))}
        </nav>
        <InboxPopover label="Inbox">{() => <Inbox />}</InboxPopover>
        <Notifications.Bell onOpen={() => setView('feed')} />
        <Leader />
      </header>
      <ConnectionNotice />
      <main>
        <h1>{view}</h1>
        {view === 'feed' && <Everything />}
        {view === 'groups' && <Groups />}
        {view === 'bookmarks' && <Bookmarks />}
        {view === 'hidden' && <Hidden />}
        {view === 'mutes' && <Mutes />}
        {view === 'page' && <Page refId="office" />}
      </main>
    </>
  );
}

function Leader(): ReactNode {
  const { isLeader, state } = useConnection();
  return <small id="leader">{`${state}, ${isLeader ? 'leads' : 'follows'}`}</small>;
}

function Everything(): ReactNode {
  const feed = useFeed({ first: 25, total: true });
  const ref = useAutoRead(feed, { dwellMs: 500 });
  const [undo, setUndo] = useState<Undo | null>(null);
  return (
    <div ref={ref}>
      <p id="counts">
        {feed.total?.count ?? '…'} items, {feed.unread.count} unread
      </p>
      <Feed.Root feed={feed}>
        <Feed.NewItems />
        <Feed.Announcer />
        <Feed.Error />
        <Feed.Skeleton />
        <Feed.List label="Feed">
          {(item, index) => (
            <Feed.Item key={item.id} item={item} index={index}>
              <Entry item={item} onUndo={setUndo} />
            </Feed.Item>
          )}
        </Feed.List>
        <Feed.Empty>Nothing here yet.</Feed.Empty>
        <Feed.LoadMore />
      </Feed.Root>
      <UndoToast last={undo} onClose={() => setUndo(null)} />
    </div>
  );
}

function Entry({
  item,
  onUndo,
}: {
  readonly item: FanfareItem;
  readonly onUndo: (undo: Undo) => void;
}): ReactNode {
  const { hide } = useItemActions(item);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Summary item={item} />
      <Time at={item.action.conducted} />
      <Reactions actionId={item.action.id} />
      <button type="button" onClick={() => void hide().then(onUndo)}>
        Hide
      </button>
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        More
      </button>
      {isOpen && (
        <>
          <Why actionId={item.action.id} />
          <CommentThread actionId={item.action.id} />
        </>
      )}
    </>
  );
}

function Why({ actionId }: { readonly actionId: string }): ReactNode {
  const { explanation, error } = useExplain(actionId);
  if (error !== null) return <p role="alert">{error.message}</p>;
  const reasons = explanation?.addressedBy.map(({ reason, via }) => `${reason} ${via ?? ''}`) ?? [];
  return <p className="why">{explanation === undefined ? '…' : `Here because of ${reasons.join(', ')}`}</p>;
}

function Inbox(): ReactNode {
  const feed = useFeed({ first: 10, live: 'insert', filter: { unreadOnly: true } });
  return (
    <Feed.Root feed={feed}>
      <Feed.List label="Unread">
        {(item, index) => (
          <Feed.Item key={item.id} item={item} index={index}>
            <Summary item={item} />
          </Feed.Item>
        )}
      </Feed.List>
      <Feed.Empty>All read.</Feed.Empty>
    </Feed.Root>
  );
}
