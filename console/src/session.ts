import { useSyncExternalStore } from 'react';

/** Who is signed in, as the token says it. The server alone decides what that is worth. */
export interface Session {
  readonly token: string;
  readonly memberId: string;
  readonly roles: readonly string[];
}

const KEY = 'fanfare:token';
const listeners = new Set<() => void>();

function decode(token: string): Session | null {
  try {
    const [, payload = ''] = token.split('.');
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (one) =>
      one.charCodeAt(0),
    );
    const { sub, roles } = JSON.parse(new TextDecoder().decode(bytes)) as { sub?: unknown; roles?: unknown };
    if (typeof sub !== 'string') return null;
    const given = Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [];
    return { token, memberId: sub, roles: given };
  } catch {
    return null;
  }
}

/** What the server has filled in for who started it: used once, so that signing out is possible. */
function offered(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="fanfare-token"]')?.content ?? '';
}

/** Who has signed in here stays who they are; the offer is for who has not. Empty: they have signed out. */
let current: Session | null = decode(sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? offered());

/**
 * Signs in with a token. It stays in this tab; only when it is asked for does it outlive it.
 * @returns false when it is no token
 */
export function signIn(token: string, isKept: boolean): boolean {
  const session = decode(token.trim().replace(/^(?:authorization:\s*)?bearer\s+/i, ''));
  if (session === null) return false;
  current = session;
  sessionStorage.setItem(KEY, session.token);
  if (isKept) localStorage.setItem(KEY, session.token);
  for (const listener of listeners) listener();
  return true;
}

export function signOut(): void {
  current = null;
  sessionStorage.setItem(KEY, '');
  localStorage.removeItem(KEY);
  for (const listener of listeners) listener();
}

export function hasOffer(): boolean {
  return offered() !== '';
}

/** It is not kept: the next page has one of its own. */
export function takeOffer(): void {
  current = decode(offered());
  sessionStorage.removeItem(KEY);
  for (const listener of listeners) listener();
}

export function useSession(): Session | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    () => current,
  );
}
