import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { clickOn, findBrowser, ofBrowser, openPage } from '../support/browser.ts';
import { has, WAIT } from '../support/console.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { serveReactPages, type ReactPages } from '../support/react-pages.ts';

const found = await findBrowser();

describe.skipIf(isLeftOut(typeof found !== 'string'))('an app of React Native', () => {
  let app: TestApp;
  let browser: Browser;
  let pages: ReactPages;
  beforeAll(async () => {
    browser = ofBrowser(found);
    app = await startTestApp({ env: { POLL_INTERVAL: '20ms' } });
    pages = await serveReactPages(app.url, () => app.token('ann'));
    await upsert(app, { pairs: [{ followerId: 'ann', refId: 'john' }] });
  });
  afterAll(async () => {
    await browser.close();
    await pages[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  test('shows a feed by the hooks alone, live, with bodies and pictures; what is liked there is liked', async () => {
    const media = [{ url: 'https://127.0.0.1:9/owl.png', alt: 'An owl on a roof' }];
    const posted = { postId: 'post:owl', postTitle: 'Owl', text: 'At night.', media };
    await publish(app, { actorId: 'john', descriptor: { posted } });
    await app.idle();
    await using visited = await openPage(browser, pages.native);
    const { page, errors } = visited;
    await has(page, 'john posted Owl', '[data-testid="item"]');
    await has(page, 'At night.', '[data-testid="item"]');
    expect(await page.$$('[data-testid="item"] [aria-label="An owl on a roof"]')).toHaveLength(1);
    await has(page, 'live 1', '[data-testid="state"]');
    await publish(app, {
      actorId: 'john',
      descriptor: { posted: { postId: 'post:kite', postTitle: 'Kite' } },
    });
    await has(page, 'john posted Kite', '[data-testid="item"]');
    await clickOn(page, '::-p-xpath(//*[@role="button"])');
    await expect.poll(() => page.$$('::-p-xpath(//*[@role="button"][. = "Like 1"])'), WAIT).toHaveLength(1);
    await app.idle();
    expect(errors).toEqual([]);
  });
});
