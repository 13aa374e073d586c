/** Where the host's people sign in. */
export interface Accounts {
  readonly issuer: string;
  readonly clientId: string;
  /** Parameters of the request for tokens: scope, audience, resource. */
  readonly request: Readonly<Record<string, string>>;
  /** Which this page may call, of the provider. */
  readonly origins: readonly string[];
  /** What the server takes tokens of alone. */
  readonly expected: { readonly issuer?: string; readonly audience?: string };
}

interface Host {
  /** Default `roles`. */
  readonly rolesClaim?: string;
  readonly accounts?: Accounts;
}

/** What the server has filled in. */
export const host = JSON.parse(atob(filledIn('host')) || '{}') as Host;

/** A value of the page; empty: the server has filled in none. */
export function filledIn(name: string): string {
  return document.querySelector<HTMLMetaElement>(`[name=fanfare-${name}]`)?.content ?? '';
}
