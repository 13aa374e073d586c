import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { findBrowser, ofBrowser, textOf } from '../support/browser.ts';
import { startTestHttp } from '../support/http.ts';
import { isLeftOut } from '../support/needed.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const found = await findBrowser();
let app: TestApp;
let browser: Browser;
beforeAll(async () => {
  if (typeof found === 'string') return;
  app = await startTestApp({ worker: false });
  browser = ofBrowser(found);
});
afterAll(async () => {
  if (typeof found === 'string') return;
  await browser.close();
  await app[Symbol.asyncDispose]();
});

const WAIT = { timeout: PATIENCE_MS, interval: 200 };

interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** Status of every answer of the API, page excepted, and where requests went. */
  readonly statuses: number[];
  readonly sent: string[];
}

async function visit(url: string): Promise<Visit> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const statuses: number[] = [];
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.url());
  });
  page.on('response', (response) => {
    if (response.request().method() === 'POST') statuses.push(response.status());
  });
  await page.goto(`${url}/graphql`, { timeout: PATIENCE_MS });
  await page.waitForSelector('.graphiql-container .graphiql-execute-button', { timeout: PATIENCE_MS });
  return { page, statuses, sent, [Symbol.asyncDispose]: () => context.close() };
}

/** What the documentation shows once the schema is there. */
async function documentation(page: Page): Promise<string> {
  if ((await page.$('.graphiql-doc-explorer')) === null)
    await page.click('button[aria-label="Show Documentation Explorer"]').catch(() => undefined);
  return textOf(page, '.graphiql-doc-explorer');
}

const run = (page: Page): Promise<void> => page.click('.graphiql-execute-button');

describe.skipIf(isLeftOut(typeof found !== 'string'))('the query page in a browser', () => {
  test('starts with the printed token and the documentation, and runs the first query', async () => {
    await using server = await startTestHttp(app, { graphiql: true, pageToken: await app.token('demo') });
    await using visited = await visit(server.url);
    const { page, statuses } = visited;
    await expect.poll(() => documentation(page), WAIT).toContain('Query');
    await run(page);
    await expect.poll(() => textOf(page, '.result-window'), WAIT).toContain('"edges"');
    expect(new Set(statuses)).toEqual(new Set([200]));
    // The key of the console, where signing out removes it.
    expect(await page.evaluate('localStorage.getItem("fanfare:token")')).toBeNull();
  });

  test('replaces the token of an earlier start in a restored tab', async () => {
    await using server = await startTestHttp(app, { graphiql: true, pageToken: 'token.of.yesterday' });
    await using visited = await visit(server.url);
    const { page, statuses } = visited;
    await expect
      .poll(() => page.evaluate('localStorage.getItem("graphiql:tabState")'), WAIT)
      .toContain('yesterday');
    // The same browser at the same address after a restart: only the token has changed.
    const { port } = server;
    await server.close();
    await using again = await startTestHttp(app, {
      graphiql: true,
      port,
      pageToken: await app.token('demo'),
    });
    statuses.length = 0;
    await page.goto(`${again.url}/graphql`, { timeout: PATIENCE_MS });
    await expect.poll(() => documentation(page), WAIT).toContain('Query');
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('sends no request without a token, explains what to do, and loads the documentation with the first one', async () => {
    await using server = await startTestHttp(app, { graphiql: true });
    await using visited = await visit(server.url);
    const { page, sent } = visited;
    await run(page);
    await expect.poll(() => textOf(page, '.result-window'), WAIT).toContain('Put a token under');
    expect(await textOf(page, '.graphiql-query-editor')).toContain('npx fanfare token');
    expect(sent).toEqual([]);
    // As if it were typed under "Headers".
    const token = await app.token('demo');
    await page.evaluate(`fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ${token}' },
      body: JSON.stringify({ query: '{ viewer { memberId } }' }),
    }).then((response) => response.status)`);
    await expect.poll(() => documentation(page), WAIT).toContain('Query');
  });
});
