import { Avatar, UnreadBadge, useQuery } from '@fanfare/react';
import { Eye, LogOut, Menu as MenuIcon, Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useLayoutEffect, useState, type ReactNode } from 'react';
import { hrefTo, useRoute } from './route.ts';
import { signOut, type Session } from './session.ts';
import { Mark } from './ui/mark.tsx';
import type { Place } from './ui/palette.tsx';
import { useEvery } from './ui/use-every.ts';
import { changeLanguage } from './words/language.ts';
import { setZone, useZone } from './zone.ts';

export interface Group {
  readonly name: string;
  readonly places: readonly Place[];
}

const Palette = lazy(async () => ({ default: (await import('./ui/palette.tsx')).Palette }));
/** Read once the feed is there. Without it the screen is there all the same. */
const Unseen = lazy(() =>
  new Promise((resolve) => setTimeout(resolve, 1_500))
    .then(() => import('./screens/notifications.tsx'))
    .then(
      ({ Unseen: Show }) => ({ default: Show }),
      () => ({ default: () => null }),
    ),
);
/** As many as a thumb finds beside *More*. */
const IN_BAR = 4;

interface Props {
  readonly session: Session;
  readonly groups: readonly Group[];
  readonly title: string;
  /** Name of the place that is marked. */
  readonly current: string;
  /** Whose feed or data is looked at; empty: one's own. */
  readonly looked: string;
  readonly children: ReactNode;
}

/** The frame of all screens: a rail (on a phone a bar at the bottom), one line at the top, the search. */
export function Shell({ session, groups, title, current, looked, children }: Props): ReactNode {
  const { screen, id } = useRoute();
  const [isOpen, setOpen] = useState(false);
  /** Null while nobody searches. */
  const [sought, setSought] = useState<string | null>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') setOpen(false);
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        setSought((text) => text ?? '');
      } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey)
        // What is typed before the field is there is in it when it comes.
        setSought((text) =>
          text === null || event.target instanceof HTMLInputElement ? text : text + event.key,
        );
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, []);
  // The way back of the browser leaves them too; a filter that comes into the address late does not. With the screen, so that
  // a search which is opened on it at once stays.
  useLayoutEffect(() => {
    setOpen(false);
    setSought(null);
  }, [screen, id]);
  const places = groups.flatMap((group) => group.places);
  const link = (place: Place): ReactNode => <PlaceLink key={place.name} {...{ place, current }} />;
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={toMain}>
        To the content
      </a>
      <nav className="rail" id="rail" aria-label="Screens" data-open={isOpen || undefined}>
        <a className="brand" href={hrefTo('feed')} title={location.host}>
          <Mark />
          <span>
            <strong>Fanfare</strong>
            <small translate="no">{location.host}</small>
          </span>
        </a>
        {groups.map(({ name, places: of }) => (
          <div key={name} role="group" aria-label={name}>
            <h2 aria-hidden="true">{name}</h2>
            {of.map(link)}
          </div>
        ))}
      </nav>
      <header>
        <h1>{title}</h1>
        <Header {...{ session, looked }} onSearch={() => setSought('')} />
      </header>
      {children}
      <nav className="bar" aria-label="Most used screens">
        {places.slice(0, IN_BAR).map(link)}
        <button type="button" aria-expanded={isOpen} aria-controls="rail" onClick={() => setOpen(!isOpen)}>
          <MenuIcon aria-hidden="true" />
          <span>More</span>
        </button>
      </nav>
      {sought !== null && (
        <Suspense>
          <Palette
            {...{ places, session }}
            text={sought}
            onType={setSought}
            onClose={() => setSought(null)}
          />
        </Suspense>
      )}
    </div>
  );
}

function PlaceLink({ place, current }: { readonly place: Place; readonly current: string }): ReactNode {
  const { name, title, icon: Icon, href = hrefTo(name) } = place;
  return (
    <a {...{ href, title }} aria-current={name === current ? 'page' : undefined}>
      <Icon aria-hidden="true" />
      <span>{title}</span>
      {name === 'feed' && <UnreadBadge />}
      {name === 'notifications' && (
        <Suspense>
          <Unseen />
        </Suspense>
      )}
    </a>
  );
}

interface HeaderProps {
  readonly session: Session;
  readonly looked: string;
  readonly onSearch: () => void;
}

const ME = '{ viewer { member { name imageUrl } } }';
interface Me {
  /** Null: the host has never described them. */
  readonly viewer: { readonly member: { readonly name: string; readonly imageUrl: string | null } | null };
}

/** In which tenant, as whom, at whom, and when. */
function Header({ session, looked, onSearch }: HeaderProps): ReactNode {
  const { memberId, roles, tenant } = session;
  const isAdmin = roles.includes('admin');
  const { data } = useQuery<Me>(ME);
  const me = data?.viewer.member;
  return (
    <>
      {looked !== '' && looked !== memberId && (
        <span className="badge looked" title="Whose feed and data you look at">
          <Eye aria-hidden="true" /> <bdi>{looked}</bdi>
        </span>
      )}
      <button type="button" className="find" aria-haspopup="dialog" onClick={onSearch}>
        <Search aria-hidden="true" />
        <span>Search</span>
        <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <Clock />
      <button type="button" className="clock language" title="Auf Deutsch" onClick={changeLanguage}>
        DE
      </button>
      {tenant !== '' && (
        <span className="badge" title="The tenant that everything is done in" dir="auto">
          {tenant}
        </span>
      )}
      <span className="who" title={`Roles: ${roles.join(', ') || 'none'}`}>
        <Avatar id={memberId} name={me?.name ?? memberId} src={me?.imageUrl} />
        <span>
          <bdi>{me?.name ?? memberId}</bdi>
          <small>{isAdmin ? 'Administrator' : roles.includes('service') ? 'Service' : 'Reader'}</small>
        </span>
      </span>
      <button type="button" className="icon" title="Sign out" onClick={signOut}>
        <LogOut aria-hidden="true" />
        <span data-visually-hidden>Sign out</span>
      </button>
    </>
  );
}

/** The time that moments on the page are shown in. */
function Clock(): ReactNode {
  const zone = useZone();
  const [now, setNow] = useState(() => new Date());
  useEvery(1_000, () => setNow(new Date()));
  const time = now.toLocaleTimeString('sv', {
    ...{ hour: '2-digit', minute: '2-digit' },
    ...(zone === 'utc' ? { timeZone: 'UTC' } : {}),
  });
  return (
    <button
      type="button"
      className="clock"
      aria-pressed={zone === 'utc'}
      title={zone === 'utc' ? 'Times are in UTC' : 'Times are those of this machine'}
      onClick={() => setZone(zone === 'utc' ? 'local' : 'utc')}
    >
      <span>{time}</span> UTC
    </button>
  );
}

/** The hash is the address of the screen: a jump within it goes by the focus. */
function toMain(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
