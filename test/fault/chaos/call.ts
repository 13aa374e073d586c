import type { Role } from '../../../src/domain/viewer.ts';
import type { TestApp } from '../../support/app.ts';
import type { Fleet } from './fleet.ts';

/** What a request needs of the world, which itself names who asks. */
interface Entrance {
  readonly app: TestApp;
  readonly fleet: Fleet;
}

export interface As {
  readonly sub: string;
  readonly roles?: readonly Role[];
}

interface Answer<T> {
  readonly data?: T | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

/** What came of a request: data, the code of a refusal, or that nobody knows what was done. */
export type Outcome<T> = { readonly data: T } | { readonly code: string; readonly message: string };

/** How long a client waits before it gives a request up. */
const REQUEST_MS = 30_000;

/** One request to one of the APIs, as an application would send it. */
export async function call<T>(
  { app, fleet }: Entrance,
  document: string,
  variables: Readonly<Record<string, unknown>>,
  as: As,
): Promise<Outcome<T>> {
  try {
    const response = await fetch(`${fleet.apiUrl()}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${await app.token(as.sub, as.roles ?? ['user'])}`,
      },
      body: JSON.stringify({ query: document, variables }),
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    const { data, errors = [] } = (await response.json()) as Answer<T>;
    const [error] = errors;
    if (error !== undefined)
      return {
        code: error.extensions?.code ?? 'NONE',
        message: `${error.message}, status ${String(response.status)}`,
      };
    if (data === undefined || data === null)
      return { code: 'NO_DATA', message: `status ${String(response.status)}` };
    return { data };
  } catch (error) {
    // The connection ended or nothing answered: the process may have been killed before or after the write.
    return { code: 'NO_ANSWER', message: String(error) };
  }
}
