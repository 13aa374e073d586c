import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { findBrowser, ofBrowser, openPage, textOf } from '../support/browser.ts';
import { faults, has, WAIT } from '../support/console.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { serveReactPages, type ReactPages } from '../support/react-pages.ts';

const found = await findBrowser();

describe.skipIf(typeof found === 'string')('pages made of the hooks and parts', () => {
  let app: TestApp;
  let browser: Browser;
  let pages: ReactPages;
  beforeAll(async () => {
    browser = ofBrowser(found);
    app = await startTestApp();
    pages = await serveReactPages(app.url, () => app.token('ann'));
    await upsert(app, { pairs: [{ followerId: 'ann', refId: 'john' }] });
  });
  afterAll(async () => {
    await browser.close();
    await pages[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  const post = (title: string): Promise<string> =>
    publish(app, { actorId: 'john', descriptor: { posted: { postId: `post:${title}`, postTitle: title } } });

  test('rendered on the server it is hydrated as it is, without a warning, and goes on live without a query of the feed', async () => {
    for (const title of ['Robin', 'Crane']) await post(title);
    await app.idle();
    const html = await (await fetch(pages.hydrated)).text();
    expect(html.match(/<article/g)).toHaveLength(2);
    const bodies: Promise<string | undefined>[] = [];
    await using visited = await openPage(browser, pages.hydrated, (request) => {
      if (request.url().endsWith('/graphql')) bodies.push(request.fetchPostData());
    });
    const { page, errors } = visited;
    // Live: the socket is open, and what is published now comes.
    await post('Swift');
    await has(page, 'Swift', 'article [data-fanfare="summary"], [data-fanfare="new-items"]');
    expect(await page.evaluate('served.map((article) => article.isConnected)')).toEqual([true, true]);
    // Only now does it say how long ago: React has taken over.
    await expect.poll(() => textOf(page, 'article time'), WAIT).toMatch(/ago|now/);
    const asked = await Promise.all(bodies);
    expect(asked.filter((body) => body?.includes('query Feed') !== false)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('axe-core finds nothing wrong in any state of any part: loading, empty, failed, waiting, not landed, undone', async () => {
    await using visited = await openPage(browser, pages.states);
    const { page, errors } = visited;
    const inside = (name: string, selector: string): string => `[aria-label="${name}"] ${selector}`;
    const press = (name: string, text: string): Promise<void> =>
      page
        .locator(`::-p-xpath((//section[@aria-label="${name}"]//button[contains(., "${text}")])[1])`)
        .click();
    await has(page, 'That is all.', inside('refused', '[data-fanfare="end"]'));
    await press('a page that failed', 'Load more');
    await press('undone', 'Hide');
    for (const text of ['Like', 'Follow', 'Hide']) await press('refused', text);
    const comment = page.locator(inside('refused', 'article:first-child textarea'));
    await comment.fill('Kept');
    await press('refused', 'Send');
    await has(
      page,
      'does not expect the mutation addInteraction',
      inside('refused', '[data-draft="failed"]'),
    );
    // Under the focus nothing moves, so what comes waits.
    const article = JSON.stringify(inside('waiting', 'article'));
    await page.evaluate(
      `document.querySelector(${article}).focus(); new Promise((done) => setTimeout(done))`,
    );
    await page.evaluate('arrive()');
    await has(page, '1 new', inside('waiting', '[data-fanfare="new-items"]'));
    await has(page, 'Hidden', inside('undone', '[data-fanfare="undo"]'));
    await has(page, 'It did not land', inside('a page that failed', '[data-fanfare="error"]'));
    await has(page, 'Nothing here yet.', inside('empty', '[data-fanfare="empty"]'));
    expect(await page.$(inside('loading', '[data-fanfare="skeleton"]'))).not.toBeNull();
    for (const value of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
      expect(await faults(page), value).toEqual([]);
    }
    expect(errors).toEqual([]);
  });

  test('in a hidden page nothing is marked as read, and what is in view when it is seen again is marked after a while', async () => {
    await using visited = await openPage(browser, pages.read);
    const { page, errors } = visited;
    await page.locator('article:last-child[data-in-view="true"]').wait();
    await page.evaluate('dwell()');
    expect(await page.evaluate('marked')).toEqual([]);
    await page.evaluate('see()');
    await expect
      .poll(() => page.evaluate('marked'), WAIT)
      .toEqual([{ actionIds: ['action-b', 'action-a'], isAfterDwell: true }]);
    expect(errors).toEqual([]);
  });
});
