import '@fanfare/react/tokens.css';
import '@fanfare/react/feed.css';
import '@fanfare/react/more.css';
import {
  Avatar,
  ConnectionNotice,
  FanfareProvider,
  Feed,
  leaderOf,
  Reactions,
  Summary,
  Time,
  useFeed,
  type FanfareProviderProps,
} from '@fanfare/react';
import { CommentThread, Notifications, useViews } from '@fanfare/react/more';
import { useState, type ReactNode } from 'react';
import { wordsOfParts } from '../words/language.ts';

interface ReaderProps {
  readonly token: NonNullable<FanfareProviderProps['token']>;
  readonly children?: ReactNode;
}

/** A reader's feed: it moves while one looks, and goes on where it was when the network is back. */
export function Reader({ token, children }: ReaderProps): ReactNode {
  return (
    <FanfareProvider url="/graphql" token={token} words={wordsOfParts()}>
      <div className="bell">
        <Notifications.Bell />
      </div>
      <ConnectionNotice />
      <LiveFeed />
      {children}
    </FanfareProvider>
  );
}

function LiveFeed(): ReactNode {
  const { views } = useViews();
  const [view, setView] = useState('');
  const [opened, setOpened] = useState('');
  // New items of a view that is ranked come with its next page.
  const order = views.find(({ name }) => name === view)?.order ?? 'TOP';
  const feed = useFeed({ first: 25, live: 'insert', ...(view !== '' && { view, order }) });
  return (
    <Feed.Root feed={feed}>
      {views.length > 0 && (
        <nav className="quiet-buttons" aria-label="Views">
          {[{ name: '', label: 'Everything' }, ...views].map(({ name, label }) => (
            <button key={name} type="button" aria-pressed={name === view} onClick={() => setView(name)}>
              {label}
            </button>
          ))}
        </nav>
      )}
      <Feed.Error />
      <Feed.Skeleton />
      <Feed.List label="Feed">
        {(item, index) => (
          <Feed.Item key={item.id} item={item} index={index}>
            <Avatar {...leaderOf(item.action)} />
            <Summary item={item} />
            <Time at={item.action.conducted} />
            <Reactions
              actionId={item.action.id}
              comments={{
                isOpen: item.id === opened,
                toggle: () => setOpened(item.id === opened ? '' : item.id),
              }}
            />
            {item.id === opened && <CommentThread actionId={item.action.id} />}
          </Feed.Item>
        )}
      </Feed.List>
      <Feed.Empty>Nothing here yet.</Feed.Empty>
      <Feed.LoadMore />
    </Feed.Root>
  );
}
