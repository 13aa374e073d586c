import '@fanfare/react/style.css';
import { createFanfare } from '@fanfare/apollo';
import * as Kit from '@fanfare/react';
import { cacheFields, useCacheList, type CacheFields } from '@fanfare/react/cache';
import * as More from '@fanfare/react/more';
import { useEffect, useMemo, useReducer, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { fields } from './fanfare.js';

const token = async (): Promise<string> => (await fetch('/token', { cache: 'no-store' })).text();
const fanfare = createFanfare<CacheFields>({ url: '/graphql', token, fields: cacheFields(fields) });
const feed = fanfare.feed();
const hrefOf = ({ member, ref }: Kit.SummaryPart): string => `#/${member?.memberId ?? ref?.refId ?? ''}`;
const hash = (): string => decodeURIComponent(location.hash.slice(2));

function App(): ReactNode {
  const [id, setId] = useState(hash);
  useEffect(() => addEventListener('hashchange', () => setId(hash())), []);
  return (
    <main>
      <h1>Recipes</h1> <a href="#/">All</a> <More.Notifications.Bell />
      <Kit.ConnectionNotice /> <Kit.UndoToast />
      {id === '' ? <Home /> : <Page key={id} id={id} />}
    </main>
  );
}

function Home(): ReactNode {
  const cook = async (recipeName: string, mentions: readonly string[]): Promise<void> => {
    const descriptor = { recipeCooked: { recipeId: `recipe:${recipeName}`, recipeName } };
    await fanfare.mutations.publishAction({ input: { descriptor, mentions, scope: 'PUBLIC' } });
  };
  return (
    <Kit.Feed.Root feed={useCacheList(feed)}>
      <More.Composer label="What did you cook?" onSend={cook} />
      <Kit.Feed.Error />
      <Kit.Feed.List label="Recipes">
        {(item, index) => (
          <Kit.Feed.Item key={item.id} item={item} index={index}>
            <Dish action={item.action} menu={<More.ItemMenu item={item} />} />
          </Kit.Feed.Item>
        )}
      </Kit.Feed.List>
      <Kit.Feed.LoadMore />
    </Kit.Feed.Root>
  );
}

function Dish({ action, menu }: { readonly action: Kit.FanfareAction; readonly menu?: ReactNode }) {
  const [isOpen, toggle] = useReducer((open: boolean) => !open, false);
  return (
    <>
      <Kit.Avatar {...Kit.leaderOf(action)} />
      <Kit.Summary item={{ action }} hrefOf={hrefOf} />
      <Kit.Content item={{ action }} />
      <Kit.Time at={action.conducted} />
      <Kit.Reactions actionId={action.id} reactions={['😋', '👏']} comments={{ isOpen, toggle }}>
        {menu}
      </Kit.Reactions>
      {isOpen && <More.CommentThread actionId={action.id} />}
    </>
  );
}

function Page({ id }: { readonly id: string }): ReactNode {
  const slice = useMemo(() => fanfare.list('slice', { refId: id }), [id]);
  return (
    <>
      <Kit.FollowButton refId={id} />
      {useCacheList(slice).items.map((action) => (
        <article key={action.id} data-fanfare="item">
          <Dish action={action} />
        </article>
      ))}
    </>
  );
}

createRoot(document.body.appendChild(document.createElement('div'))).render(
  <Kit.FanfareProvider url="/graphql" token={token} fields={fields}>
    <App />
  </Kit.FanfareProvider>,
);
