import { signToken } from '../../src/cli/token.ts';
import type { Role } from '../../src/domain/viewer.ts';
import { TEST_SECRET, type GraphqlAnswer, type TestApp } from './app.ts';

/** What asks an API in a process of its own, one that takes tokens of TEST_SECRET. */
export function clientOf(url: string): Pick<TestApp, 'url' | 'wsUrl' | 'token' | 'query'> {
  const token = (sub: string, roles: readonly Role[] = ['user']): Promise<string> =>
    signToken({ jwtSecret: TEST_SECRET }, { sub, roles, expiresAt: new Date(Date.now() + 3_600_000) });
  return {
    url,
    wsUrl: `${url.replace('http', 'ws')}/graphql`,
    token,
    async query<T>(
      query: string,
      variables: object = {},
      as: { readonly sub: string; readonly roles?: readonly Role[] } | null = { sub: 'reader' },
    ): Promise<GraphqlAnswer<T>> {
      const authorization = as === null ? {} : { authorization: `Bearer ${await token(as.sub, as.roles)}` };
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        // Each request on a connection of its own, so that it may reach any of several processes.
        headers: { 'content-type': 'application/json', ...authorization, connection: 'close' },
        body: JSON.stringify({ query, variables }),
      });
      const body = (await response.json()) as Partial<Pick<GraphqlAnswer<T>, 'data' | 'errors'>>;
      return { status: response.status, data: body.data ?? null, errors: body.errors ?? [] };
    },
  };
}
