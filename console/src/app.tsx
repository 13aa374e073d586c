import { ConnectionNotice, FanfareProvider, UnreadBadge } from '@fanfare/react';
import { useEffect, useLayoutEffect, useRef, type ReactNode } from 'react';
import { useKeptScroll } from './place.ts';
import { hrefTo, useRoute, type Route } from './route.ts';
import { ActionScreen } from './screens/action.tsx';
import { FeedScreen } from './screens/feed.tsx';
import { HealthScreen } from './screens/health.tsx';
import { InspectorScreen } from './screens/inspector.tsx';
import { MemberScreen } from './screens/member.tsx';
import { ModerationScreen } from './screens/moderation.tsx';
import { OverviewScreen } from './screens/overview.tsx';
import { PublishScreen } from './screens/publish.tsx';
import { SliceScreen } from './screens/slice.tsx';
import { TailScreen } from './screens/tail.tsx';
import { WebhooksScreen } from './screens/webhooks.tsx';
import { WorkScreen } from './screens/work.tsx';
import { Palette, type PaletteHandle } from './ui/palette.tsx';
import { useSampling } from './ui/samples.ts';
import { useClient } from './ui/use-client.ts';
import { signOut, useSession, type Session } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { setZone, useZone } from './zone.ts';

interface Screen {
  readonly name: string;
  readonly title: string;
  /** Without one of these roles the server refuses what it shows. */
  readonly roles?: readonly string[];
  readonly show: (props: { readonly session: Session }) => ReactNode;
}

const SCREENS: readonly Screen[] = [
  { name: 'feed', title: 'Feed', show: () => <FeedScreen /> },
  { name: 'publish', title: 'Publish', show: ({ session }) => <PublishScreen session={session} /> },
  { name: 'slice', title: 'Pages', show: () => <SliceScreen /> },
  { name: 'overview', title: 'Overview', roles: ['admin'], show: () => <OverviewScreen /> },
  { name: 'tail', title: 'Tail', roles: ['admin'], show: () => <TailScreen /> },
  { name: 'inspector', title: 'Inspector', roles: ['admin'], show: () => <InspectorScreen /> },
  { name: 'member', title: 'Members', roles: ['admin'], show: () => <MemberScreen /> },
  { name: 'moderation', title: 'Moderation', roles: ['admin'], show: () => <ModerationScreen /> },
  { name: 'work', title: 'Work', roles: ['admin'], show: () => <WorkScreen /> },
  { name: 'webhooks', title: 'Webhooks', roles: ['admin'], show: () => <WebhooksScreen /> },
  { name: 'health', title: 'Health', show: () => <HealthScreen /> },
];

export function App(): ReactNode {
  const session = useSession();
  const client = useClient();
  if (session === null) return <SignIn />;
  // Tabs share one connection, but for those of operators, who name a tenant beside their token.
  const by = session.tenant === '' ? { url: '/graphql', token: session.token } : { client };
  return (
    <FanfareProvider {...by}>
      <Frame session={session} />
    </FanfareProvider>
  );
}

function Frame({ session }: { readonly session: Session }): ReactNode {
  const route = useRoute();
  const { screen, id } = route;
  useKeptScroll(route);
  const head = useHeadHeight();
  const screens = useCurrentInView(screen);
  useSampling(screen === 'health');
  const isAllowed = ({ roles }: Screen): boolean =>
    roles === undefined || roles.some((role) => session.roles.includes(role));
  const shown = SCREENS.find(({ name }) => name === screen);
  const palette = useRef<PaletteHandle>(null);
  useNamedPage(shown?.title ?? (screen === 'action' ? 'Action' : ''), screen === 'action' ? '' : id);
  useFocusOn(route);
  return (
    <>
      <a className="skip" href="#main" onClick={toMain}>
        To the content
      </a>
      <header ref={head}>
        <strong>Fanfare</strong>
        <span className="badge host" title={location.host}>
          {location.host}
        </span>
        {isReader(session) && (
          <span className="badge" title="Without the role admin or service you act for yourself alone.">
            read-only
          </span>
        )}
        <nav ref={screens} aria-label="Screens">
          {SCREENS.filter(isAllowed).map(({ name, title }) => (
            <a key={name} href={hrefTo(name)} aria-current={name === screen ? 'page' : undefined}>
              {title}
              {name === 'feed' && (
                <>
                  {' '}
                  <span className="count">
                    <UnreadBadge />
                  </span>
                </>
              )}
            </a>
          ))}
        </nav>
        <button
          type="button"
          className="find"
          aria-label="Find"
          title="An id, a name or a screen: Ctrl+K"
          aria-haspopup="dialog"
          onClick={() => palette.current?.open()}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="7" cy="7" r="5" />
            <path d="m11 11 4 4" />
          </svg>
        </button>
        <span className="who">
          <ZoneSwitch />
          {session.tenant !== '' && (
            <span className="badge" title="The tenant that everything is done in">
              {session.tenant}
            </span>
          )}
          <span title={`Roles: ${session.roles.join(', ') || 'none'}`}>{session.memberId}</span>
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </span>
      </header>
      <ConnectionNotice>
        <button type="button" onClick={signOut}>
          Sign in again
        </button>
      </ConnectionNotice>
      <Palette ref={palette} screens={SCREENS.filter(isAllowed)} />
      <main id="main" tabIndex={-1}>
        {screen === 'action' ? (
          <ActionScreen key={id} id={id} session={session} />
        ) : shown !== undefined && isAllowed(shown) ? (
          shown.show({ session })
        ) : (
          <p className="empty">There is nothing here, or your token has not the role for it.</p>
        )}
      </main>
    </>
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

/** On a phone the screens are wider than the page: the one that is shown is brought there, and nothing else moves. */
function useCurrentInView(screen: string): { readonly current: HTMLElement | null } {
  const screens = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const nav = screens.current;
    const shown = nav?.querySelector('[aria-current]');
    if (nav == null || shown == null) return undefined;
    const bring = (): void => {
      const [whole, part] = [nav.getBoundingClientRect(), shown.getBoundingClientRect()];
      nav.scrollLeft += part.left + part.width / 2 - (whole.left + whole.width / 2);
    };
    bring();
    // A phone is turned, a window made smaller.
    const observer = new ResizeObserver(bring);
    observer.observe(nav);
    return () => {
      observer.disconnect();
    };
  }, [screen]);
  return screens;
}

/** What sticks below the head, or is scrolled to, has to know how high it is: its screens take as many lines as they need. */
function useHeadHeight(): { readonly current: HTMLElement | null } {
  const head = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = head.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      document.documentElement.style.setProperty('--head', `${String(element.offsetHeight)}px`);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, []);
  return head;
}

/** Whose token lets them change nothing of the installation. */
function isReader({ roles }: Session): boolean {
  return !roles.includes('admin') && !roles.includes('service');
}

function ZoneSwitch(): ReactNode {
  const zone = useZone();
  return (
    <button
      type="button"
      aria-pressed={zone === 'utc'}
      title="Times in UTC"
      onClick={() => setZone(zone === 'utc' ? 'local' : 'utc')}
    >
      UTC
    </button>
  );
}

/** The hash is the address of the screen: a jump within it goes by the focus. */
function toMain(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
