import { signToken } from '../../src/cli/token.ts';
import type { Role } from '../../src/domain/viewer.ts';
import { TEST_SECRET, type GraphqlAnswer, type TestApp } from './app.ts';

/** The claim that names the tenant in tests. */
export const TENANT_CLAIM = 'tenant';

export interface Caller {
  readonly sub: string;
  readonly roles?: readonly Role[];
}

/** A server as the members of one of its tenants know it. */
export interface TenantApp extends Pick<TestApp, 'url' | 'wsUrl' | 'token'> {
  /** The text of the answer too, as it came. */
  query<T>(
    document: string,
    variables?: Readonly<Record<string, unknown>>,
    as?: Caller,
  ): Promise<GraphqlAnswer<T> & { readonly text: string }>;
}

/** A token with any claims. */
export function tokenWith(
  sub: string,
  { tenant, roles }: { readonly tenant?: unknown; readonly roles?: readonly string[] },
): Promise<string> {
  const expiresAt = new Date(Date.now() + 3_600_000);
  return signToken(
    { jwtSecret: TEST_SECRET, tenantClaim: TENANT_CLAIM },
    { sub, tenant: tenant as string, roles: (roles ?? ['user']) as readonly Role[], expiresAt },
  );
}

/** @param more headers of each request */
export async function ask<T>(
  url: string,
  token: string,
  body: { readonly query: string; readonly variables?: Readonly<Record<string, unknown>> },
  more: Readonly<Record<string, string>> = {},
): Promise<GraphqlAnswer<T> & { readonly text: string }> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...more },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const { data, errors } = JSON.parse(text) as Partial<GraphqlAnswer<T>>;
  return { status: response.status, text, data: data ?? null, errors: errors ?? [] };
}

export function inTenant({ url, wsUrl }: Pick<TestApp, 'url' | 'wsUrl'>, tenant: string): TenantApp {
  const tokens = new Map<string, Promise<string>>();
  const token = (sub: string, roles: readonly Role[] = ['user']): Promise<string> => {
    const key = JSON.stringify([sub, roles]);
    const made = tokens.get(key) ?? tokenWith(sub, { tenant, roles });
    tokens.set(key, made);
    return made;
  };
  return {
    url,
    wsUrl,
    token,
    query: async (query, variables = {}, { sub, roles } = { sub: 'ann' }) =>
      ask(url, await token(sub, roles), { query, variables }),
  };
}
