import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';

const APP_ORIGIN = 'https://app.example';

async function ask(app: TestApp, origin: string, init: RequestInit = {}): Promise<Headers> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    body: JSON.stringify({ query: '{ __typename }' }),
    ...init,
    headers: { 'content-type': 'application/json', origin, ...(init.headers as object) },
  });
  await response.text();
  return response.headers;
}

function preflight(app: TestApp, origin: string): Promise<Headers> {
  const headers = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };
  return ask(app, origin, { method: 'OPTIONS', body: null, headers });
}

describe('with a list of origins', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({
      worker: false,
      env: { CORS_ORIGINS: `${APP_ORIGIN}, http://other.example:8080` },
    });
  });
  afterAll(async () => app[Symbol.asyncDispose]());

  test('lets pages of these origins send requests and read answers, without credentials', async () => {
    for (const origin of [APP_ORIGIN, 'http://other.example:8080']) {
      const before = await preflight(app, origin);
      expect(before.get('access-control-allow-origin')).toBe(origin);
      expect(before.get('access-control-allow-methods')).toBe('GET, POST, OPTIONS');
      expect(before.get('access-control-allow-headers')).toBe('authorization,content-type');
      expect(before.get('access-control-allow-credentials')).toBeNull();
      const headers = await ask(app, origin);
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('vary')).toContain('Origin');
    }
  });

  test('answers preflights without a token, and with one that is not examined', async () => {
    const none = await preflight(app, APP_ORIGIN);
    const headers = { 'access-control-request-method': 'POST', authorization: 'Bearer nonsense' };
    const some = await ask(app, APP_ORIGIN, { method: 'OPTIONS', body: null, headers });
    expect([none, some].map((answer) => answer.get('access-control-allow-origin'))).toEqual([
      APP_ORIGIN,
      APP_ORIGIN,
    ]);
    const lone = { method: 'OPTIONS', headers: { authorization: 'Bearer nonsense' } };
    expect((await fetch(`${app.url}/graphql`, lone)).headers.get('www-authenticate')).toBeNull();
  });

  test('lets them read errors too', async () => {
    const headers = await ask(app, APP_ORIGIN, { headers: { authorization: 'Bearer nonsense' } });
    expect(headers.get('access-control-allow-origin')).toBe(APP_ORIGIN);
    expect(headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
  });

  test.each([
    'https://evil.example',
    'https://app.example.evil.example',
    'http://app.example',
    'http://localhost:3000',
    'null',
  ])('answers %s without CORS headers', async (origin) => {
    for (const headers of [await preflight(app, origin), await ask(app, origin)])
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  test('still rejects bodies that a page can send without a preflight', async () => {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', origin: APP_ORIGIN },
      body: JSON.stringify({ query: '{ __typename }' }),
    });
    expect(response.status).toBe(415);
  });
});

test.each([
  ['production', {}, 'http://localhost:3000', null],
  ['development', {}, 'http://localhost:3000', 'http://localhost:3000'],
  ['development', {}, 'http://127.0.0.1:5173', 'http://127.0.0.1:5173'],
  ['development', {}, 'http://[::1]:5173', 'http://[::1]:5173'],
  ['development', {}, 'http://localhost.evil.example', null],
  ['development', {}, 'https://evil.example', null],
  ['development', { CORS_ORIGINS: 'off' }, 'http://localhost:3000', null],
  ['production', { CORS_ORIGINS: '*' }, 'https://anybody.example', 'https://anybody.example'],
])('in %s with %o, %s is answered with %s', async (NODE_ENV, env, origin, allowed) => {
  await using app = await startTestApp({ worker: false, env: { NODE_ENV, ...env } });
  expect((await preflight(app, origin)).get('access-control-allow-origin')).toBe(allowed);
});

test('lets no other origin read the browser pages', async () => {
  await using app = await startTestApp({ worker: false, env: { GRAPHIQL: 'on' } });
  const response = await fetch(`${app.url}/graphql`, {
    headers: { accept: 'text/html', origin: 'http://localhost:3000' },
  });
  expect(response.headers.get('content-type')).toContain('text/html');
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
});
