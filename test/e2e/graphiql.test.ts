import { execFile } from 'node:child_process';
import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servicesCanReach } from '../../packages/local-engine/src/process/service-user.ts';
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

test('serves a query page that loads nothing from other servers', async () => {
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

test('redirects from / to the page', async () => {
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

test('serves no page if it is off, as in production', async () => {
  await using server = await startTestHttp(app, { graphiql: false });
  const page = await fetch(`${server.url}/graphql`, html);
  expect(page.headers.get('content-type')).not.toContain('text/html');
  expect(page.status).toBe(400);
  expect((await fetch(server.url, html)).status).toBe(404);
});

test('is off in production, with introspection, unless it is enabled', async () => {
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
  ])('is in the page requested for %s: %o %s', async (_how, headers, isThere) => {
    await using server = await startTestHttp(app, { graphiql: true, pageToken: TOKEN });
    expect((await pageFor(server.url, headers)).includes(TOKEN)).toBe(isThere);
  });

  test.skipIf(networkInterfaces()['lo']?.some(({ family }) => family === 'IPv6') !== true)(
    'is in the page of a server that listens on IPv6, for both families',
    async () => {
      await using server = await startTestHttp(app, { graphiql: true, pageToken: TOKEN, host: '::' });
      const { port } = new URL(server.url);
      for (const host of ['127.0.0.1', '[::1]'])
        expect(await pageFor(`http://${host}:${port}`, {}), host).toContain(TOKEN);
    },
  );

  test('is in no page if none was printed', async () => {
    await using server = await startTestHttp(app, { graphiql: true });
    expect(await pageFor(server.url, {})).toContain('const token = ""');
  });

  test('is stored in no cache and shown in no frame', async () => {
    await using server = await startTestHttp(app, { graphiql: true, pageToken: TOKEN });
    const { headers } = await fetch(`${server.url}/graphql`, html);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  /**
   * Whether GraphiQL and the console have the token for a user of the machine, who first leaves ended connections behind: the same
   * ports, from other addresses of this machine.
   */
  async function fetchedBy(uid: number, url: string): Promise<string> {
    const script = `
      const { once } = require('node:events');
      const { connect } = require('node:net');
      const { request } = require('node:http');
      const { hostname: host, port } = new URL('${url}');
      async function spend(localAddress, localPort) {
        const socket = connect({ host, port, localAddress, localPort });
        await once(socket, 'connect');
        const used = socket.localPort;
        socket.end();
        await once(socket.resume(), 'close');
        return used;
      }
      async function pageOf(path, localPort) {
        const asked = request({ host, port, path, localAddress: '127.0.0.1', localPort, headers: { accept: 'text/html' } }).end();
        let text = '';
        for await (const part of (await once(asked, 'response'))[0]) text += part;
        return text.includes('${TOKEN}');
      }
      async function visit(path) {
        const used = await spend('127.0.0.2', 0);
        for (let i = 3; i < 20; i++) await spend('127.0.0.' + i, used);
        return pageOf(path, used);
      }
      (async () => console.log(await visit('/graphql'), await visit('/console')))();`;
    return (await promisify(execFile)(process.execPath, ['-e', script], { uid })).stdout.trim();
  }

  test.runIf(process.platform === 'linux' && process.getuid?.() === 0 && servicesCanReach(process.execPath))(
    'is not given to another user of the machine',
    async () => {
      await using server = await startTestHttp(app, { graphiql: true, console: true, pageToken: TOKEN });
      // The server of this test runs as root; the pages are fetched once as root and once as nobody.
      expect([await fetchedBy(0, server.url), await fetchedBy(65_534, server.url)]).toEqual([
        'true true',
        'false false',
      ]);
    },
  );
});
