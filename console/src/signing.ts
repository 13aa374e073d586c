/** What only somebody needs who is not signed in yet. */
import { filledIn } from './host.ts';
import { decode, enter, kept, KEY, TENANT_KEY, type Account } from './session.ts';

/**
 * Signs in with a token. It stays in this tab; only when it is asked for does it outlive it.
 * @returns false when it is no token, or that of an operator without a tenant
 */
export function signIn(token: string, tenant: string, isKept: boolean): boolean {
  const session = decode(plain(token), tenant.trim());
  if (session === null) return false;
  for (const storage of isKept ? [sessionStorage, localStorage] : [sessionStorage]) {
    storage.setItem(KEY, session.token);
    storage.setItem(TENANT_KEY, session.tenant);
  }
  enter(session);
  return true;
}

/**
 * Signs in by an account, whose tokens are not stored.
 * @param tenant for an operator; by default that of this tab
 * @returns false when it is an operator's, and the tenant is missing
 */
export function signInBy(account: Account, token: string, tenant = kept(TENANT_KEY) ?? ''): boolean {
  const session = decode(token, tenant.trim());
  if (session === null) return false;
  sessionStorage.setItem(TENANT_KEY, session.tenant);
  enter({ ...session, ...account });
  return true;
}

/** Whether it is a token that acts in any tenant, which then has to be named. */
export function isOperators(token: string): boolean {
  return decode(plain(token), '-')?.roles.includes('operator') === true;
}

function plain(token: string): string {
  return token.trim().replace(/^(?:authorization:\s*)?bearer\s+/i, '');
}

export function hasOffer(): boolean {
  return filledIn('token') !== '';
}

/** It is not kept: the next page has one of its own. */
export function takeOffer(): void {
  sessionStorage.removeItem(KEY);
  enter(decode(filledIn('token')));
}
