import { useSyncExternalStore } from 'react';

/** Who is signed in, as the token says it. The server alone decides what that is worth. */
export interface Session {
  readonly token: string;
  readonly memberId: string;
  readonly roles: readonly string[];
  /** What an operator acts in; empty for everybody else, whose token says it. */
  readonly tenant: string;
}

const KEY = 'fanfare:token';
const TENANT_KEY = 'fanfare:tenant';
const listeners = new Set<() => void>();

function decode(token: string, tenant = ''): Session | null {
  try {
    const [, payload = ''] = token.split('.');
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (one) =>
      one.charCodeAt(0),
    );
    const { sub, roles } = JSON.parse(new TextDecoder().decode(bytes)) as { sub?: unknown; roles?: unknown };
    if (typeof sub !== 'string') return null;
    const given = Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [];
    // An operator is nobody before it is said in which tenant.
    const isOperator = given.includes('operator');
    if (isOperator && tenant === '') return null;
    return { token, memberId: sub, roles: given, tenant: isOperator ? tenant : '' };
  } catch {
    return null;
  }
}

/** What the server has filled in for who started it: used once, so that signing out is possible. */
function offered(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="fanfare-token"]')?.content ?? '';
}

function kept(key: string): string | null {
  return sessionStorage.getItem(key) ?? localStorage.getItem(key);
}

/** Who has signed in here stays who they are; the offer is for who has not. Empty: they have signed out. */
let current: Session | null = decode(kept(KEY) ?? offered(), kept(TENANT_KEY) ?? '');

/**
 * Signs in with a token. It stays in this tab; only when it is asked for does it outlive it.
 * @returns false when it is no token, or that of an operator without a tenant
 */
export function signIn(token: string, tenant: string, isKept: boolean): boolean {
  const session = decode(plain(token), tenant.trim());
  if (session === null) return false;
  current = session;
  for (const storage of isKept ? [sessionStorage, localStorage] : [sessionStorage]) {
    storage.setItem(KEY, session.token);
    storage.setItem(TENANT_KEY, session.tenant);
  }
  for (const listener of listeners) listener();
  return true;
}

/** Whether it is a token that acts in any tenant, which then has to be named. */
export function isOperators(token: string): boolean {
  return decode(plain(token), '-')?.roles.includes('operator') === true;
}

function plain(token: string): string {
  return token.trim().replace(/^(?:authorization:\s*)?bearer\s+/i, '');
}

export function signOut(): void {
  current = null;
  sessionStorage.setItem(KEY, '');
  localStorage.removeItem(KEY);
  for (const storage of [sessionStorage, localStorage]) storage.removeItem(TENANT_KEY);
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
