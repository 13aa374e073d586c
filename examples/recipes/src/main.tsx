import '@fanfare/react/style.css';
import {
  Avatar,
  ConnectionNotice,
  Content,
  FanfareProvider,
  Feed,
  FollowButton,
  leaderOf,
  Reactions,
  Summary,
  Time,
  UndoToast,
  useFeed,
  usePublish,
  type FanfareAction,
} from '@fanfare/react';
import { CommentThread, Composer, ItemMenu, Notifications, useSlice } from '@fanfare/react/more';
import { useEffect, useReducer, useState, type PropsWithChildren, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { fields } from './fanfare.js';

const hash = (): string => decodeURIComponent(location.hash.slice(2));

function App(): ReactNode {
  const [page, setPage] = useState(hash);
  useEffect(() => addEventListener('hashchange', () => setPage(hash())), []);
  return (
    <>
      <header>
        <a href="#/">Recipes</a> <Notifications.Bell /> <ConnectionNotice />
      </header>
      {page === '' ? <Home /> : <Page key={page} id={page} />}
      <UndoToast />
    </>
  );
}

function Home(): ReactNode {
  const feed = useFeed();
  return (
    <main>
      <h1>What was cooked</h1>
      <Cook />
      <Feed.Root feed={feed}>
        <Feed.NewItems />
        <Feed.Announcer />
        <Feed.Error />
        <Feed.Skeleton />
        <Feed.List label="Recipes">
          {(item, index) => (
            <Feed.Item key={item.id} item={item} index={index}>
              <Dish action={item.action}>
                <ItemMenu item={item} link={`#/${item.action.actor.memberId}`} />
              </Dish>
            </Feed.Item>
          )}
        </Feed.List>
        <Feed.Empty>Nobody you follow has cooked anything yet.</Feed.Empty>
        <Feed.LoadMore />
      </Feed.Root>
    </main>
  );
}

function Dish({ action, children }: PropsWithChildren<{ readonly action: FanfareAction }>): ReactNode {
  const [isOpen, toggle] = useReducer((open: boolean) => !open, false);
  return (
    <>
      <Avatar {...leaderOf(action)} />
      <Summary item={{ action }} hrefOf={({ member, ref }) => `#/${member?.memberId ?? ref?.refId ?? ''}`} />
      <Content item={{ action }} />
      <Time at={action.conducted} />
      <Reactions actionId={action.id} reactions={['😋', '👏']} comments={{ isOpen, toggle }}>
        {children}
      </Reactions>
      {isOpen && <CommentThread actionId={action.id} />}
    </>
  );
}

function Cook(): ReactNode {
  const publish = usePublish();
  const cook = async (text: string, mentions: readonly string[]): Promise<void> => {
    const [recipeName = '', ...lines] = text.split('\n');
    const isPicture = (line: string): boolean => line.startsWith('https://');
    const recipe = { recipeId: `recipe:${recipeName.toLowerCase()}`, recipeName, rating: 5 };
    const note = lines.filter((line) => !isPicture(line)).join('\n') || null;
    const pictures = lines.filter(isPicture).map((url) => ({ url, alt: recipeName }));
    await publish({ recipeCooked: { ...recipe, note, pictures } }, { mentions, scope: 'PUBLIC' });
  };
  return (
    <Composer label="What did you cook?" onSend={cook}>
      Publish
    </Composer>
  );
}

function Page({ id }: { readonly id: string }): ReactNode {
  const { actions } = useSlice(id);
  return (
    <main>
      <h1 dir="auto">{actions[0]?.refs.find(({ refId }) => refId === id)?.label ?? id}</h1>
      <FollowButton refId={id} />
      {actions.map((action) => (
        <article key={action.id} data-fanfare="item">
          <Dish action={action} />
        </article>
      ))}
    </main>
  );
}

const token = async (): Promise<string> => (await fetch('/token', { cache: 'no-store' })).text();
createRoot(document.body.appendChild(document.createElement('div'))).render(
  <FanfareProvider url="/graphql" token={token} fields={fields}>
    <App />
  </FanfareProvider>,
);
