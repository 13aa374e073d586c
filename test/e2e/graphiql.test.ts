import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startTestHttp } from '../support/http.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ worker: false, env: { GRAPHIQL: 'on' } });
});
afterAll(async () => app[Symbol.asyncDispose]());

const html = {
  headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
  redirect: 'manual',
} as const;

test('serves a query page that loads nothing from elsewhere', async () => {
  const response = await fetch(`${app.url}/graphql`, html);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/html');
  const page = await response.text();
  expect(page).toContain('<title>Fanfare</title>');
  const [head = ''] = page.split('<body');
  const elements = page.match(/<(?:script|link|img|iframe|source|object|embed)\b[^>]*>/g) ?? [];
  const foreign = elements.filter((element) =>
    /\b(?:src|href|data)\s*=\s*["']?(?:https?:)?\/\//.test(element),
  );
  expect(foreign).toEqual([]);
  expect(page).not.toMatch(/unpkg\.com|jsdelivr|cdnjs|esm\.sh|googleapis\.com|gstatic\.com/);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'self'");
  expect(head.match(/@import|url\(\s*["']?(?:https?:)?\/\//g)).toBeNull();
});

test('leads from / to the page', async () => {
  const response = await fetch(app.url, html);
  expect(response.status).toBe(302);
  expect(response.headers.get('location')).toBe('/graphql');
});

test('still answers queries by GET', async () => {
  const response = await fetch(`${app.url}/graphql?query={__typename}`, {
    headers: { accept: 'application/json' },
  });
  expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
});

test('has no page when it is off, as in production', async () => {
  await using server = await startTestHttp(app, { graphiql: false });
  const page = await fetch(`${server.url}/graphql`, html);
  expect(page.headers.get('content-type')).not.toContain('text/html');
  expect(page.status).toBe(400);
  expect((await fetch(server.url, html)).status).toBe(404);
});

test('is off and introspection with it in production, unless it is asked for', async () => {
  await using production = await startTestApp({ worker: false, env: { NODE_ENV: 'production' } });
  expect((await fetch(`${production.url}/graphql`, html)).headers.get('content-type')).not.toContain(
    'text/html',
  );
  const { errors } = await production.query('{ __schema { queryType { name } } }');
  expect(errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
});
