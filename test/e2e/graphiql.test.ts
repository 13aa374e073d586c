import { execFile } from 'node:child_process';
import { request } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

describe('the printed token', () => {
  const TOKEN = 'the.printed.token';

  /** The page, asked for with headers that fetch would not send. */
  function pageFor(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
    return new Promise((resolve, reject) => {
      const asked = request(
        `${url}/graphql`,
        { headers: { accept: 'text/html', ...headers } },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.on('end', () => {
            resolve(text);
          });
        },
      );
      asked.on('error', reject).end();
    });
  }

  test.each([
    ['as a browser does by hand', { 'sec-fetch-site': 'none', 'sec-fetch-dest': 'document' }, true],
    ['under the name localhost', { host: 'localhost:4000' }, true],
    ['under a name that leads here', { host: 'evil.example:4000' }, false],
    ['from a page of elsewhere', { 'sec-fetch-site': 'cross-site' }, false],
    ['from a page of another port', { 'sec-fetch-site': 'same-site' }, false],
    ['by a script', { 'sec-fetch-dest': 'empty' }, false],
    ['into a frame', { 'sec-fetch-dest': 'iframe' }, false],
    ['through a proxy', { 'x-forwarded-for': '192.0.2.1' }, false],
  ])('stands in the page when it is asked for %s: %o %s', async (_how, headers, isThere) => {
    await using server = await startTestHttp(app, { graphiql: true, pageToken: TOKEN });
    expect((await pageFor(server.url, headers)).includes(TOKEN)).toBe(isThere);
  });

  test('stands in no page when none was printed', async () => {
    await using server = await startTestHttp(app, { graphiql: true });
    expect(await pageFor(server.url, {})).toContain('const token = ""');
  });

  test('stays in no cache and in no frame', async () => {
    await using server = await startTestHttp(app, { graphiql: true, pageToken: TOKEN });
    const { headers } = await fetch(`${server.url}/graphql`, html);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  test.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
    'is not for another user of the machine',
    async () => {
      await using server = await startTestHttp(app, { graphiql: true, pageToken: TOKEN });
      const script = `fetch('${server.url}/graphql', { headers: { accept: 'text/html' } })
        .then((r) => r.text()).then((t) => console.log(t.includes('${TOKEN}')))`;
      const asked = promisify(execFile);
      const as = async (uid: number) =>
        (await asked(process.execPath, ['-e', script], { uid })).stdout.trim();
      // The server of this test runs as root; the page is fetched once as root and once as nobody.
      expect([await as(0), await as(65_534)]).toEqual(['true', 'false']);
    },
  );
});
