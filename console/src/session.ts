import { useSyncExternalStore } from 'react';
import { filledIn, host } from './host.ts';

/** Who is signed in, as the token says it. The server alone decides what that is worth. */
export interface Session extends Partial<Pick<Account, 'again' | 'leave'>> {
  readonly token: string | Account['token'];
  readonly memberId: string;
  readonly roles: readonly string[];
  /** What an operator acts in; empty for everybody else, whose token says it. */
  readonly tenant: string;
}

/** One of the host's, at its provider. */
export interface Account {
  /** One that is good for a while; a new one instead of a refused one. Throws a FeedClientError when there are no more. */
  readonly token: (refused?: string) => Promise<string>;
  /** Asks the provider who it is; this page goes there. */
  readonly again: () => void;
  /** Forgets it, and signs out there. */
  readonly leave: () => void;
}

export const KEY = 'fanfare:token';
export const TENANT_KEY = 'fanfare:tenant';
const listeners = new Set<() => void>();

type Claims = Readonly<Record<string, unknown>>;

/** As the server reads it: by its name or, if there is none, by a path. */
function claimIn(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name
    .split('.')
    .reduce<unknown>((within, part) => (within as Claims | null | undefined)?.[part], claims);
}

export function decode(token: string, tenant = ''): (Session & { readonly token: string }) | null {
  try {
    const [, payload = ''] = token.split('.');
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (one) =>
      one.charCodeAt(0),
    );
    const claims = JSON.parse(new TextDecoder().decode(bytes)) as Claims;
    const { sub } = claims;
    const roles = claimIn(claims, host.rolesClaim ?? 'roles');
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

export function kept(key: string): string | null {
  return sessionStorage.getItem(key) ?? localStorage.getItem(key);
}

/**
 * Who has signed in here stays who they are. The token that the server has filled in is for who has not, and is used once, so that
 * signing out is possible. Empty: they have signed out.
 */
let current: Session | null = decode(kept(KEY) ?? filledIn('token'), kept(TENANT_KEY) ?? '');

/** @param session null: nobody is signed in */
export function enter(session: Session | null): void {
  current = session;
  for (const listener of listeners) listener();
}

export function signOut(): void {
  const leave = current?.leave;
  sessionStorage.setItem(KEY, '');
  localStorage.removeItem(KEY);
  for (const storage of [sessionStorage, localStorage]) storage.removeItem(TENANT_KEY);
  enter(null);
  leave?.();
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
