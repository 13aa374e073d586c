import { ConnectionNotice, FanfareProvider, useConnection } from '@fanfare/react';
import {
  Activity,
  Bell,
  BookUser,
  Braces,
  Eraser,
  House,
  PackageCheck,
  ScanSearch,
  ScrollText,
  Send,
  Shapes,
  ShieldAlert,
  Webhook,
} from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, type ComponentType, type ReactNode } from 'react';
import { useKeptScroll } from './place.ts';
import { hrefTo, useRoute, type Route } from './route.ts';
import { FeedScreen } from './screens/feed.tsx';
import { signOut, useSession, type Session } from './session.ts';
import { Shell } from './shell.tsx';
import type { Place } from './ui/palette.tsx';
import { useClient } from './ui/use-client.ts';
import { t, wordsOfParts } from './words/language.ts';

interface Shown {
  readonly session: Session;
  readonly id: string;
}
interface Screen extends Place {
  readonly Show: ComponentType<Shown>;
  /** Not in the rail: one comes to it from another one, which is marked there. */
  readonly below?: string;
  /** Anybody may look at it; default: administrators. */
  readonly isForAll?: boolean;
}

const LOADS: (() => Promise<unknown>)[] = [
  () => import('./ui/palette.tsx'),
  () => import('./ui/item-menu.tsx'),
  () => import('./ui/nothing.tsx'),
  () => import('./ui/thread.tsx'),
];
/** Not part of what has to be there before the feed is shown; fetched as soon as there is nothing else to do. */
function later(load: () => Promise<ComponentType<Shown>>): ComponentType<Shown> {
  LOADS.push(load);
  return lazy(async () => ({ default: await load().catch(() => NotLoaded) }));
}

/** Such as after another version of the server was started: only a new page knows its files. It comes when the server does. */
function NotLoaded(): ReactNode {
  const isLive = useConnection().state === 'live';
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (isLive && !wasLive.current) location.reload();
  }, [isLive]);
  return (
    <p role="alert" className="alert">
      This screen cannot be loaded.{' '}
      <button type="button" onClick={() => location.reload()}>
        Load the page again
      </button>
    </p>
  );
}

const FEED: readonly Screen[] = [
  { name: 'feed', title: 'Home', icon: House, Show: FeedScreen, isForAll: true },
  {
    ...{ name: 'notifications', title: 'Notifications', icon: Bell, isForAll: true },
    Show: later(async () => (await import('./screens/notifications.tsx')).NotificationsScreen),
  },
  {
    ...{ name: 'directory', title: 'Directory', icon: BookUser, isForAll: true },
    Show: later(async () => (await import('./screens/directory.tsx')).DirectoryScreen),
  },
  {
    ...{ name: 'publish', title: 'Publish', icon: Send, isForAll: true },
    Show: later(async () => (await import('./screens/publish.tsx')).PublishScreen),
  },
];
const OPERATE: readonly Screen[] = [
  {
    ...{ name: 'overview', title: 'Overview', icon: Activity },
    Show: later(async () => (await import('./screens/overview.tsx')).OverviewScreen),
  },
  {
    ...{ name: 'deliveries', title: 'Deliveries', icon: PackageCheck },
    Show: later(async () => (await import('./screens/deliveries.tsx')).DeliveriesScreen),
  },
  {
    ...{ name: 'moderation', title: 'Moderation', icon: ShieldAlert },
    Show: later(async () => (await import('./screens/moderation.tsx')).ModerationScreen),
  },
  {
    ...{ name: 'erasures', title: 'Erasures', icon: Eraser },
    Show: later(async () => (await import('./screens/erasures.tsx')).ErasuresScreen),
  },
  {
    ...{ name: 'webhooks', title: 'Webhooks', icon: Webhook },
    Show: later(async () => (await import('./screens/webhooks.tsx')).WebhooksScreen),
  },
];
const BUILD: readonly Screen[] = [
  {
    ...{ name: 'inspector', title: 'Inspector', icon: ScanSearch },
    Show: later(async () => (await import('./screens/inspector.tsx')).InspectorScreen),
  },
  {
    ...{ name: 'types', title: 'Types', icon: Shapes, isForAll: true },
    Show: later(async () => (await import('./screens/types.tsx')).TypesScreen),
  },
  {
    ...{ name: 'tail', title: 'Tail', icon: ScrollText },
    Show: later(async () => (await import('./screens/tail.tsx')).TailScreen),
  },
];
const BELOW: readonly Screen[] = [
  {
    ...{ name: 'action', title: 'Action', icon: House, below: 'feed', isForAll: true },
    Show: later(async () => (await import('./screens/action.tsx')).ActionScreen),
  },
  {
    ...{ name: 'slice', title: 'Page', icon: BookUser, below: 'directory', isForAll: true },
    Show: later(async () => (await import('./screens/slice.tsx')).SliceScreen),
  },
  {
    ...{ name: 'member', title: 'Member', icon: BookUser, below: 'directory' },
    Show: later(async () => (await import('./screens/member.tsx')).MemberScreen),
  },
  {
    ...{ name: 'notified', title: 'Notifications', icon: BookUser, below: 'directory' },
    Show: later(async () => (await import('./screens/notified.tsx')).NotifiedScreen),
  },
];
const GRAPHIQL: Place = { name: 'graphiql', title: 'GraphiQL', icon: Braces, href: '/graphql' };
const SCREENS = [...FEED, ...OPERATE, ...BUILD, ...BELOW];

const SignIn = lazy(async () => ({ default: (await import('./sign-in.tsx')).SignIn }));

export function App(): ReactNode {
  const session = useSession();
  const client = useClient();
  if (session === null)
    return (
      <Suspense>
        <SignIn />
      </Suspense>
    );
  // Tabs share one connection, but for those of operators, who name a tenant beside their token.
  const by = session.tenant === '' ? { url: '/graphql', token: session.token } : { client };
  return (
    <FanfareProvider {...by} words={wordsOfParts()}>
      <Frame session={session} />
    </FanfareProvider>
  );
}

function Frame({ session }: { readonly session: Session }): ReactNode {
  const route = useRoute();
  const { screen, id } = route;
  useKeptScroll(route);
  useEffect(() => {
    const idle = setTimeout(() => {
      // One that cannot be had now is asked for again, and said, when its screen is opened.
      for (const load of LOADS) load().catch(() => undefined);
    }, 1_500);
    return () => {
      clearTimeout(idle);
    };
  }, []);
  const { roles } = session;
  const isAllowed = ({ isForAll = false, name }: Screen): boolean =>
    isForAll || roles.includes('admin') || (name === 'moderation' && roles.includes('moderator'));
  const groups = [
    { name: 'Feed', places: FEED.filter(isAllowed) },
    { name: 'Operate', places: OPERATE.filter(isAllowed) },
    { name: 'Build', places: [...BUILD.filter(isAllowed), GRAPHIQL] },
  ].filter(({ places }) => places.length > 0);
  const shown = SCREENS.find((one) => one.name === screen && isAllowed(one));
  useNamedPage(t(shown?.title ?? ''), screen === 'action' ? '' : id);
  useFocusOn(route);
  useKeptFocus();
  return (
    <Shell
      {...{ session, groups }}
      title={shown?.title ?? 'Nothing here'}
      current={shown?.below ?? screen}
      looked={['inspector', 'member', 'notified'].includes(screen) ? id : ''}
    >
      <ConnectionNotice>
        <button type="button" onClick={session.again ?? signOut}>
          Sign in again
        </button>
      </ConnectionNotice>
      <main id="main" tabIndex={-1} data-screen={screen}>
        {shown === undefined ? (
          <p className="empty">
            There is nothing here, or your token has not the role for it. <a href={hrefTo('feed')}>Home</a>
          </p>
        ) : (
          // By its key what was shown before goes at once, and with it the focus.
          <Suspense
            key={`${screen} ${id}`}
            fallback={<div className="loading" role="status" aria-label="Loading" />}
          >
            <shown.Show {...{ session, id }} />
          </Suspense>
        )}
      </main>
    </Shell>
  );
}

/** Tabs, the history and screen readers tell pages by their titles. */
function useNamedPage(...names: readonly string[]): void {
  const title = [...names, 'Fanfare'].filter((name) => name !== '').join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}

/** A link that is gone with its screen has the focus no more: the keys go on from the content of the next. */
function useFocusOn(route: Route): void {
  const last = useRef(route);
  useEffect(() => {
    if (last.current !== route && document.activeElement === document.body)
      document.getElementById('main')?.focus({ preventScroll: true });
    last.current = route;
  }, [route]);
}

/** It is not part of what has to be there before the feed is shown. */
function useKeptFocus(): void {
  useEffect(() => {
    const end = new AbortController();
    import('./ui/kept-focus.ts').then(
      ({ keepFocus }) => keepFocus(end.signal),
      () => undefined,
    );
    return () => {
      end.abort();
    };
  }, []);
}
