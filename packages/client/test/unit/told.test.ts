import { afterEach, expect, test, vi } from 'vitest';
import { createFeedClient, FeedClientError, type FeedClientOptions } from '../../src/index.ts';

const URL_OF_SERVER = 'https://feeds.example/graphql';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

async function failure(token: FeedClientOptions['token'], times = 1): Promise<FeedClientError> {
  const client = createFeedClient({ url: URL_OF_SERVER, token });
  let failed: unknown;
  for (let time = 0; time < times; time += 1) failed = await client.feed().catch((error: unknown) => error);
  if (!(failed instanceof FeedClientError)) throw new Error('It did not fail');
  return failed;
}

test.each([
  [
    'a page',
    (): string => '<!doctype html>\n<title>Sign in</title>',
    'There is no token: what was given is a page: <!doctype html>',
  ],
  ['nothing', (): string => undefined as never, 'There is no token: what was given is undefined'],
  [
    'what no header takes',
    (): string => 'sécret',
    'There is no token: what was given is a text with characters that no token has',
  ],
  [
    'an error',
    (): Promise<string> => Promise.reject(new Error('Your session has ended')),
    'There is no token: Your session has ended',
  ],
] as const)(
  'a token function that gives %s is named as what it is, once in the console',
  async (_, token, message) => {
    const fetched = vi.fn();
    vi.stubGlobal('fetch', fetched);
    const logged = vi.spyOn(console, 'error').mockReturnValue(undefined);
    const error = await failure(token, 3);
    expect([error.code, error.isTemporary]).toEqual(['TOKEN', true]);
    expect(error.message.startsWith(message)).toBe(true);
    expect(error.message).not.toContain('sécret');
    expect(logged.mock.calls).toEqual([[`Fanfare: ${error.message}`]]);
    expect(fetched).not.toHaveBeenCalled();
  },
);

test.each([
  ['is refused', true, 'ORIGIN', 'pages of https://app.example: its CORS_ORIGINS must have'],
  ['cannot be reached', false, 'NETWORK', 'The server cannot be reached'],
] as const)('a page whose origin %s says so', async (_, isThere, code, message) => {
  vi.stubGlobal('location', { origin: 'https://app.example', href: 'https://app.example/feed' });
  // As a browser: only what may not be read comes from another origin.
  vi.stubGlobal('fetch', (_url: string, { mode }: RequestInit) =>
    isThere && mode === 'no-cors'
      ? Promise.resolve(new Response())
      : Promise.reject(new TypeError('Failed to fetch')),
  );
  const logged = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const error = await failure('token', 2);
  expect([error.code, error.isTemporary]).toEqual([code, true]);
  expect(error.message).toContain(message);
  expect(logged).toHaveBeenCalledTimes(isThere ? 1 : 0);
});
