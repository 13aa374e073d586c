import type { Browser, KeyInput } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillIn, findBrowser, ofBrowser, openPage } from '../support/browser.ts';
import { click, has, WAIT } from '../support/console.ts';
import { isLeftOut } from '../support/needed.ts';
import { serveReactPages, type ReactPages } from '../support/react-pages.ts';
import { noteShifts, scrollThrough, takeShifts, untilStill } from '../support/stillness.ts';

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

/** Does something: how far it moves the item that is read, in any frame. Scrolling goes by whole pixels, so less than one is none. */
const movesBy = (what: string): string => `(async () => {
  const read = document.querySelector('[data-item="i100"]');
  const top = () => read.getBoundingClientRect().top;
  const before = top();
  let farthest = 0;
  const look = () => { farthest = Math.max(farthest, Math.abs(top() - before)); };
  await (${what});
  for (let frame = 0; frame < 20; frame += 1) {
    await new Promise(requestAnimationFrame);
    look();
    await new Promise((drawn) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = drawn; port2.postMessage(null); });
    look();
  }
  return Math.floor(farthest);
})()`;

describe.skipIf(isLeftOut(typeof found !== 'string'))('position and focus in a list', () => {
  let browser: Browser;
  let pages: ReactPages;
  beforeAll(async () => {
    browser = ofBrowser(found);
    // Of these pages none asks a server.
    pages = await serveReactPages('http://127.0.0.1:9', () => Promise.resolve('token'));
  });
  afterAll(async () => {
    await browser.close();
    await pages[Symbol.asyncDispose]();
  });

  test('showing items above the reader moves the first article in view by at most a pixel', async () => {
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

  test('what appears above the list, such as a notice, and goes again moves nothing for a reader further down', async () => {
    await using visited = await openPage(browser, `${pages.moving}?live=hold`);
    const { page, errors } = visited;
    await has(page, 'Ada did i26', '[role="feed"]');
    await page.evaluate(SCROLLED);
    await untilStill(page);
    const moved = await page.evaluate(`(async () => {
      const first = [...document.querySelectorAll('article')].find((one) => one.getBoundingClientRect().bottom > 0);
      const before = first.getBoundingClientRect().top;
      const notice = document.createElement('p');
      notice.textContent = 'Connecting again …';
      const tops = [];
      for (const change of [() => document.querySelector('main').prepend(notice), () => notice.remove()]) {
        change();
        await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
        tops.push(Math.abs(first.getBoundingClientRect().top - before));
      }
      return Math.max(...tops);
    })()`);
    expect(moved).toBeLessThanOrEqual(1);
    expect(errors).toEqual([]);
  });

  test.for([
    { place: 'the first of two lists', nth: 12 },
    { place: 'the second of two lists', nth: 37 },
  ])('items that come to two lists at once leave a reader of $place where they are', async ({ nth }) => {
    await using visited = await openPage(browser, `${pages.moving}?live=insert&lists=2`);
    const { page, errors } = visited;
    await expect.poll(() => page.$$('article'), WAIT).toHaveLength(50);
    const top = `read.getBoundingClientRect().top`;
    await page.evaluate(`window.read = document.querySelectorAll('article')[${String(nth)}]`);
    // Items take their size as they come near the view, which moves what is scrolled to: the place is known when that is over.
    const placed = async (): Promise<unknown> => {
      await page.evaluate("read.scrollIntoView({ block: 'start' })");
      await untilStill(page);
      return page.evaluate(top);
    };
    let before = await placed();
    for (let last: unknown = null; before !== last;) [last, before] = [before, await placed()];
    await page.evaluate('window.log=[];arrive(20)');
    await expect.poll(() => page.$$('article'), WAIT).toHaveLength(90);
    const moved = async () => Math.abs(Number(await page.evaluate(top)) - Number(before));
    await page.evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`);
    expect(await moved()).toBeLessThanOrEqual(1);
    expect(errors).toEqual([]);
  });

  test('waiting items, and showing them, shift nothing for a reader further down', async () => {
    await using visited = await openPage(browser, `${pages.moving}?live=hold`);
    const { page, errors } = visited;
    await has(page, 'Ada did i26', '[role="feed"]');
    await page.evaluate(SCROLLED);
    await untilStill(page);
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

  test('a burst of sixty during a page load is complete, and neither it nor marking all read loses a node or the focus', async () => {
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

  test('keys move between articles and out of the list, and when the focused one disappears the next gets the focus', async () => {
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
    expect(await press('Control', 'Home')).toBe('First unread');
    expect(errors).toEqual([]);
  });

  test('a focus that was left by a click elsewhere does not return when its item disappears', async () => {
    await using visited = await openPage(browser, `${pages.moving}?live=hold`);
    const { page, errors } = visited;
    await has(page, 'Ada did i26', '[role="feed"]');
    await page.focus('article:nth-child(2)');
    await page.click('h1');
    await page.evaluate('new Promise((done) => setTimeout(done))');
    await page.evaluate("remove('i49')");
    await expect.poll(() => page.$('[data-item="i49"]'), WAIT).toBeNull();
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
    expect(errors).toEqual([]);
  });

  test('inside a text field of an item the keys belong to the text', async () => {
    await using visited = await openPage(browser, pages.states);
    const { page } = visited;
    const text = '[aria-label="refused"] article:first-child textarea';
    await fillIn(page, text, 'One\nTwo');
    await page.focus(text);
    for (const key of ['PageDown', 'PageUp'] as const) await page.keyboard.press(key);
    await page.keyboard.down('Control');
    await page.keyboard.press('Home');
    await page.keyboard.up('Control');
    await page.keyboard.type('Zero ');
    expect(await page.$eval(text, (area) => (area as unknown as { readonly value: string }).value)).toBe(
      'Zero One\nTwo',
    );
  });

  test('the first unread item is loaded from a later page, scrolled into view and focused', async () => {
    await using visited = await openPage(browser, `${pages.moving}?live=hold`);
    const { page, errors } = visited;
    await has(page, 'Ada did i26', '[role="feed"]');
    await page.evaluate('letGo()');
    await click(page, 'First unread');
    await expect.poll(() => page.evaluate('document.activeElement.dataset.item'), WAIT).toBe('i1');
    expect(await page.$$('article')).toHaveLength(50);
    const inView =
      '(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.activeElement.getBoundingClientRect())';
    await expect.poll(() => page.evaluate(inView), WAIT).toBe(true);
    expect(errors).toEqual([]);
  });

  test.for([
    { where: 'at the very top of the page', to: 0 },
    { where: 'further down', to: 60 },
  ])(
    'a list that begins where one left off loads both ways around a reader $where, who does not move',
    async ({ to }) => {
      await using visited = await openPage(browser, `${pages.moving}?live=hold&from=firstUnread`);
      const { page, errors } = visited;
      await has(page, 'Ada did i100', '[role="feed"]');
      const shown = async () =>
        (await page.evaluate(
          '[...document.querySelectorAll("article")].map((one) => one.dataset.item)',
        )) as string[];
      const fromTo = (first: number, last: number) =>
        Array.from({ length: first - last + 1 }, (_, n) => `i${String(first - n)}`);
      expect(await shown()).toEqual(fromTo(100, 76));
      await page.evaluate(`scrollTo(0, ${String(to)})`);
      await untilStill(page);
      const button = (n: number) =>
        `[...document.querySelectorAll('[data-fanfare="load-more"]')].at(${String(n)}).click()`;
      expect(await page.evaluate(movesBy(button(0)))).toBe(0);
      await expect.poll(shown, WAIT).toEqual(fromTo(125, 76));
      // What comes above is left to its page.
      expect(await page.evaluate(movesBy('arrive(5)'))).toBe(0);
      expect(await page.evaluate(movesBy(button(-1)))).toBe(0);
      await expect.poll(shown, WAIT).toEqual(fromTo(125, 51));
      expect(await page.evaluate(movesBy(button(0)))).toBe(0);
      await expect.poll(shown, WAIT).toEqual(fromTo(150, 51));
      expect(await page.evaluate(movesBy(button(0)))).toBe(0);
      await expect.poll(shown, WAIT).toEqual(fromTo(155, 51));
      // Now it begins at the top: what is new waits as in any list.
      expect(await page.evaluate(movesBy('arrive(2)'))).toBe(0);
      await has(page, '2 new', '[data-fanfare="new-items"]');
      expect(await page.evaluate(movesBy('show()'))).toBe(0);
      await expect.poll(shown, WAIT).toEqual(fromTo(157, 51));
      expect(errors).toEqual([]);
    },
  );

  test('a list that begins where one left off loads what is above and below as it comes into view', async () => {
    await using visited = await openPage(browser, `${pages.moving}?live=hold&from=firstUnread&scroll`);
    const { page, errors } = visited;
    await expect.poll(() => page.$('[data-item="i101"]'), WAIT).not.toBeNull();
    await untilStill(page);
    const [top, height] = (await page.evaluate(
      `[document.querySelector('[data-item="i100"]').getBoundingClientRect().top, innerHeight]`,
    )) as [number, number];
    expect(top).toBeGreaterThanOrEqual(0);
    expect(top).toBeLessThan(height / 2);
    for (const [end, to] of [
      ['i150', '0'],
      ['i1', 'document.body.scrollHeight'],
    ] as const)
      await expect
        .poll(async () => {
          await page.evaluate(`scrollTo(0, ${to})`);
          return page.$(`[data-item="${end}"]`);
        }, WAIT)
        .not.toBeNull();
    expect(await page.$$('article')).toHaveLength(150);
    expect(errors).toEqual([]);
  });

  test('a part that selects a count of an action renders when it changes, and not for its text', async () => {
    await using visited = await openPage(browser, `${pages.moving}?live=hold`);
    const { page } = visited;
    await has(page, 'Ada did i26', '[role="feed"]');
    const before = await page.evaluate('renders()');
    await page.evaluate("change('Another text', 0)");
    await has(page, 'Another text', '[role="feed"]');
    expect(await page.evaluate('renders()')).toBe(before);
    await page.evaluate("change('Another text', 7)");
    await has(page, '7', '#likes');
    expect(await page.evaluate('renders()')).toBeGreaterThan(Number(before));
  });

  test('a virtual list keeps its position, has few nodes whatever its length, and new items get the focus', async () => {
    await using visited = await openPage(browser, pages.virtual);
    const { page, errors } = visited;
    await has(page, 'Item 2000.', '[role="feed"]');
    await page.evaluate(SCROLLED);
    await untilStill(page);
    const first = `(() => { const one = [...document.querySelectorAll('article')].find((article) =>
      article.getBoundingClientRect().bottom > 0); return [one.dataset.item, one.getBoundingClientRect().top]; })()`;
    const [id, top] = (await page.evaluate(first)) as [string, number];
    await noteShifts(page);
    await page.evaluate('arrive(20)');
    await has(page, '20 new', '[data-fanfare="new-items"]');
    expect(await takeShifts(page)).toEqual([]);
    await page.evaluate("remove('i1999')");
    const moved = async () => {
      const [after, at] = (await page.evaluate(first)) as [string, number];
      return after === id ? Math.abs(at - top) : after;
    };
    await expect.poll(moved, WAIT).toBeLessThanOrEqual(1);
    await click(page, '20 new');
    await expect.poll(() => page.evaluate('document.activeElement.dataset.item'), WAIT).toBe('i2020');
    const toEnd = async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      return page.evaluate("document.querySelector('[role=feed]').textContent");
    };
    await expect.poll(toEnd, WAIT).toContain('Item 1.');
    expect((await scrollThrough(page, 50)).articles).toBeLessThan(60);
    expect(errors).toEqual([]);
  });
});
