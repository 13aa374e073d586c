import { useSyncExternalStore } from 'react';

/** Where one is: a screen, what it shows, and its filters. All of it is in the address, behind the #. */
export interface Route {
  readonly screen: string;
  readonly id: string;
  readonly query: URLSearchParams;
}

let last = { hash: '?', route: parse('') };

function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [screen = '', ...rest] = path.split('/');
  return {
    screen: screen === '' ? 'feed' : screen,
    id: rest.map(decoded).join('/'),
    query: new URLSearchParams(query),
  };
}

/** An address that was cut off in the middle of a character is taken as it stands. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function useRoute(): Route {
  return useSyncExternalStore(
    (listener) => {
      window.addEventListener('hashchange', listener);
      return () => {
        window.removeEventListener('hashchange', listener);
      };
    },
    () => {
      const { hash } = location;
      if (last.hash !== hash) last = { hash, route: parse(hash) };
      return last.route;
    },
  );
}

export function hrefTo(screen: string, id = '', query: Readonly<Record<string, string>> = {}): string {
  const filters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/${screen}${id === '' ? '' : `/${encodeURIComponent(id)}`}${filters === '' ? '' : `?${filters}`}`;
}

export function goTo(screen: string, id = '', query: Readonly<Record<string, string>> = {}): void {
  location.hash = hrefTo(screen, id, query);
}
