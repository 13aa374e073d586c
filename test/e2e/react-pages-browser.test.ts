import type { Browser, KeyInput } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { findBrowser, ofBrowser, openPage, textOf } from '../support/browser.ts';
import { click, faultsInBoth, has, WAIT } from '../support/console.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { serveReactPages, type ReactPages } from '../support/react-pages.ts';
import { noteShifts, takeShifts } from '../support/stillness.ts';

const found = await findBrowser();
const SCROLLED = `new Promise((done) => {
  addEventListener('scroll', () => requestAnimationFrame(() => requestAnimationFrame(done)), { once: true });
  scrollTo(0, 800);
})`;
/**
 * Shows what waits: how far that moves the first article in view in any frame, before and after it is drawn. Chromium's shifts do not
 * tell: they count the guess of the height of an article that is not in view, though the place is put right before it is drawn.
 */
const FARTHEST = `(async () => {
  const first = [...document.querySelectorAll('article')].find((one) => one.getBoundingClientRect().bottom > 0);
  const top = () => first.getBoundingClientRect().top;
  const before = top();
  let farthest = 0;
  const look = () => { farthest = Math.max(farthest, Math.abs(top() - before)); };
  show();
  for (let frame = 0; frame < 20; frame += 1) {
    await new Promise(requestAnimationFrame);
    look();
    await new Promise((drawn) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = drawn; port2.postMessage(null); });
    look();
  }
  return farthest;
})()`;

describe.skipIf(isLeftOut(typeof found !== 'string'))('pages made of the hooks and parts', () => {
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
    // In StrictMode, which mounts everything twice, and with all that is watched.
    expect(app.app.http?.stats().sockets).toBe(1);
    await page.close();
    await expect.poll(() => app.app.http?.stats().sockets, WAIT).toBe(0);
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
    // The announcer says how many wait; the list itself never speaks.
    await has(page, '1 new items', inside('waiting', '[role="status"]'));
    const speaking = [
      '[role="feed"][aria-live]',
      '[role="feed"] [aria-live]',
      '[role="feed"] [role="status"]',
    ];
    expect(await page.$(speaking.join(', '))).toBeNull();
    expect(await faultsInBoth(page)).toEqual({});
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

  test('what is shown at once above the reader moves the first article in view by no more than a pixel', async () => {
    await using visited = await openPage(browser, `${pages.moving}?live=insert`);
    const { page, errors } = visited;
    await has(page, 'Ada did i26', '[role="feed"]');
    await page.evaluate(SCROLLED);
    const inView = `[...document.querySelectorAll('article')].find((one) => one.getBoundingClientRect().bottom > 0)`;
    const first = async () =>
      (await page.evaluate(`((one) => [one.dataset.item, one.getBoundingClientRect().top])(${inView})`)) as [
        string,
        number,
      ];
    const [id, before] = await first();
    await page.evaluate('arrive(50)');
    await expect.poll(() => page.$$('article'), WAIT).toHaveLength(75);
    const [after, top] = await first();
    expect(after).toBe(id);
    expect(Math.abs(top - before)).toBeLessThanOrEqual(1);
    expect(errors).toEqual([]);
  });

  test('what waits, and what is shown of it, shifts nothing that a reader further down looks at', async () => {
    await using visited = await openPage(browser, `${pages.moving}?live=hold`);
    const { page, errors } = visited;
    await has(page, 'Ada did i26', '[role="feed"]');
    await page.evaluate(SCROLLED);
    await noteShifts(page);
    await page.evaluate('arrive(50)');
    await has(page, '50 new', '[data-fanfare="new-items"]');
    expect(await takeShifts(page)).toEqual([]);
    expect(await page.evaluate(FARTHEST)).toBeLessThanOrEqual(1);
    expect(await page.$$('article')).toHaveLength(75);
    await takeShifts(page);
    // What does shift is noted.
    await page.evaluate("document.querySelector('[role=feed]').style.marginTop = '60px'");
    expect((await takeShifts(page)).length).toBeGreaterThan(0);
    expect(errors).toEqual([]);
  });

  test('a burst of sixty during the load of a page arrives whole, and neither it nor marking all read loses a node or the focus', async () => {
    await using visited = await openPage(browser, `${pages.moving}?live=insert`);
    const { page, errors } = visited;
    await has(page, 'Ada did i26', '[role="feed"]');
    const third = 'article[data-item="i48"]';
    await page.evaluate(
      `window.before = [...document.querySelectorAll('article')]; document.querySelector('${third}').focus()`,
    );
    await page.evaluate("document.querySelector('[data-fanfare=load-more]').click()");
    await page.locator('[role="feed"][aria-busy="true"]').wait();
    await page.evaluate('arrive(60)');
    await page.evaluate('letGo()');
    await expect
      .poll(
        () => page.evaluate('[...document.querySelectorAll("article")].map((one) => one.dataset.item)'),
        WAIT,
      )
      .toEqual(Array.from({ length: 110 }, (_, n) => `i${String(110 - n)}`));
    await page.evaluate("document.querySelector('[data-fanfare=root] > button').click()");
    await expect.poll(() => page.$$('article[data-unread]'), WAIT).toHaveLength(0);
    expect(await page.evaluate('before.every((article) => article.isConnected)')).toBe(true);
    expect(await page.evaluate('document.activeElement.dataset.item')).toBe('i48');
    expect(await page.evaluate('watching()')).toBe(1);
    expect(errors).toEqual([]);
  });

  test('what came with the HTML for one reader is shown to nobody who signs in after', async () => {
    await using visited = await openPage(browser, pages.another);
    const { page, errors } = visited;
    await has(page, 'Ada did of-ann', '[role="feed"]');
    await click(page, 'Sign in as Bob');
    await page.locator('[data-fanfare="skeleton"]').wait();
    expect(await page.$$('article')).toHaveLength(0);
    expect(errors).toEqual([]);
  });

  test('a group that goes takes none of those that were loaded with it', async () => {
    await using visited = await openPage(browser, pages.another);
    const { page } = visited;
    const shown = async () => (await textOf(page, '[aria-label="Groups"] li')).split(' ');
    await expect.poll(shown, WAIT).toEqual(['g7', 'g6']);
    for (const many of [4, 6]) {
      await click(page, 'More groups');
      await expect.poll(shown, WAIT).toHaveLength(many);
    }
    await page.evaluate("removeGroup('g6')");
    await expect.poll(shown, WAIT).toEqual(['g7', 'g5', 'g4', 'g3', 'g2', 'g1']);
  });

  test('keys go from article to article and out of the list, and when the focused one goes the next one has the focus', async () => {
    await using visited = await openPage(browser, `${pages.moving}?live=hold`);
    const { page, errors } = visited;
    await has(page, 'Ada did i26', '[role="feed"]');
    const focused = () =>
      page.evaluate('document.activeElement.dataset.item ?? document.activeElement.textContent');
    const press = async (...keys: KeyInput[]): Promise<unknown> => {
      for (const key of keys) await page.keyboard.down(key);
      for (const key of keys) await page.keyboard.up(key);
      return focused();
    };
    await page.focus('article');
    expect(await press('PageDown')).toBe('i49');
    expect(await press('PageDown')).toBe('i48');
    expect(await press('PageUp')).toBe('i49');
    await page.evaluate("remove('i49')");
    await expect.poll(focused, WAIT).toBe('i48');
    expect(await press('Control', 'End')).toBe('Load more');
    await page.focus('article');
    expect(await press('Control', 'Home')).toBe('Mark all read');
    expect(errors).toEqual([]);
  });
});
