import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkHostConfig, defineConfig } from '../../src/descriptors/host-config.ts';
import { useDescriptors } from '../../src/descriptors/registry.ts';
import { checkViews } from '../../src/feed/page/views.ts';
import { startTcpProxy, type TcpProxy } from '../integration/realtime/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { fillIn, findBrowser, ofBrowser, openPage, textOf } from '../support/browser.ts';
import { axeViolationsInBoth, has, picture, WAIT } from '../support/console.ts';
import { ask, publish } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { serveReactPages, type ReactPages } from '../support/react-pages.ts';
import { uniqueName } from '../support/unique-name.ts';

const found = await findBrowser();

describe.skipIf(isLeftOut(typeof found !== 'string'))('lists of one reader', () => {
  let app: TestApp;
  let wire: TcpProxy;
  let browser: Browser;
  let pages: ReactPages;
  let reader = '';
  beforeAll(async () => {
    const views = { likes: { label: { en: 'Likes' }, filter: { types: ['Liked'] } } };
    useDescriptors(checkHostConfig(defineConfig({ views }), import.meta.url));
    checkViews();
    browser = ofBrowser(found);
    app = await startTestApp();
    wire = await startTcpProxy(() => app.app.http?.port ?? 0);
    pages = await serveReactPages(`http://127.0.0.1:${String(wire.port)}`, () => app.token(reader));
  });
  afterAll(async () => {
    await browser.close();
    await pages[Symbol.asyncDispose]();
    await wire[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  const post = (title: string): Promise<string> =>
    publish(app, {
      scope: 'PUBLIC',
      mentions: [reader],
      descriptor: { posted: { postId: uniqueName('post'), postTitle: title } },
    });
  const like = (title: string): Promise<string> =>
    publish(app, {
      mentions: [reader],
      descriptor: { liked: { objectType: 'post', objectId: uniqueName('post'), objectName: title } },
    });
  const shown = async (page: Page, selector = 'article [data-fanfare="summary"]'): Promise<string[]> =>
    (await page.evaluate(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.textContent)`,
    )) as string[];

  test('a text finds what has its words, says how many, and what is published meanwhile comes', async () => {
    reader = uniqueName('reader');
    for (const title of ['Roof closed', 'Roof open', 'Garden closed']) await post(title);
    await app.idle();
    await using visited = await openPage(browser, pages.lists);
    const { page, errors } = visited;
    await expect.poll(() => shown(page), WAIT).toHaveLength(3);
    await page.type('input[type="search"]', 'clos ro');
    await page.keyboard.press('Enter');
    await expect.poll(() => shown(page), WAIT).toEqual([]);
    await fillIn(page, 'input[type="search"]', 'roof clos');
    await has(page, '1 found', '[data-fanfare="find"] [role="status"]');
    expect(await shown(page)).toEqual([expect.stringContaining('Roof closed')]);
    await post('Another roof is closed');
    await has(page, '2 found', '[data-fanfare="find"] [role="status"]');
    expect(await shown(page)).toHaveLength(2);
    await picture(page, 'find');
    expect(await axeViolationsInBoth(page)).toEqual({});
    // Of a text without a word there is nothing to find: it is the whole list again.
    await fillIn(page, 'input[type="search"]', '!');
    await expect.poll(() => shown(page), WAIT).toHaveLength(4);
    expect(await textOf(page, '[data-fanfare="find"] [role="status"]')).toBe('');
    expect(errors).toEqual([]);
  });

  test('a feed begins where the reader left off, and has all of it after the network was cut, each item once', async () => {
    reader = uniqueName('reader');
    const posts = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, n) => `Number ${String(from + n)}.`);
    for (const title of posts(0, 12)) await post(title);
    await app.idle();
    const top = '{ feed(first: 1) { edges { node { relevancy } } } }';
    interface Top {
      readonly feed: { readonly edges: readonly { readonly node: { readonly relevancy: string } }[] };
    }
    const upTo = (await ask<Top>(app, top, {}, { sub: reader })).feed.edges[0]?.node.relevancy;
    const mark = 'mutation ($upTo: DateTime!) { markFeedRead(upTo: $upTo) { memberId } }';
    await ask(app, mark, { upTo }, { sub: reader });
    for (const title of posts(12, 50)) await post(title);
    await app.idle();
    await using visited = await openPage(browser, `${pages.lists}?from`);
    const { page, errors } = visited;
    await has(page, 'Number 12.', '[aria-label="List"]');
    const numbers = async () => (await shown(page)).map((text) => Number(/Number (\d+)/.exec(text)?.[1]));
    // It is in view, with newer ones above it, of which not all are loaded.
    await expect.poll(async () => (await numbers()).indexOf(12), WAIT).toBeGreaterThan(0);
    const place = `[...document.querySelectorAll('article')].find((one) => one.textContent.includes('Number 12.')).getBoundingClientRect().top / innerHeight`;
    expect(await page.evaluate(place)).toBeLessThan(1);
    expect(await numbers()).not.toContain(49);
    const isLive = () => expect.poll(() => textOf(page, '#state'), WAIT).toBe('live');
    await isLive();
    wire.cut();
    await expect.poll(() => textOf(page, '#state'), WAIT).not.toBe('live');
    // The page above cannot be had now; it comes with the network, and nobody has to press anything.
    await page.evaluate('scrollTo(0, 0)');
    await page.waitForSelector('[data-fanfare="error"]');
    for (const title of posts(50, 53)) await post(title);
    wire.heal();
    await isLive();
    await post('Number 53.');
    await expect
      .poll(async () => {
        await page.evaluate('scrollTo(0, 0)');
        return (await numbers())[0];
      }, WAIT)
      .toBe(53);
    await expect
      .poll(async () => {
        await page.evaluate('scrollTo(0, document.body.scrollHeight)');
        return numbers();
      }, WAIT)
      .toEqual(Array.from({ length: 54 }, (_, n) => 53 - n));
    const ofTheCut = /^(WebSocket connection to|Failed to load resource)/;
    expect(errors.filter((text) => !ofTheCut.test(text))).toEqual([]);
  });

  test('a feed, a view and a thread in three tabs move together, and the network is cut: nothing is lost or there twice', async () => {
    reader = uniqueName('reader');
    const [about] = [await post('What it is about'), await like('The first')];
    await app.idle();
    await using visited = await openPage(browser, pages.lists);
    const { page: feed, errors } = visited;
    const open = async (query: string): Promise<Page> => {
      const page = await feed.browserContext().newPage();
      await page.goto(pages.lists + query);
      return page;
    };
    const view = await open('?view=likes');
    const thread = await open(`?thread=${encodeURIComponent(about)}`);
    const comments = () => shown(thread, '[data-fanfare="text"]');
    await expect.poll(() => shown(feed), WAIT).toHaveLength(2);
    await expect.poll(() => shown(view), WAIT).toHaveLength(1);
    const isLive = (page: Page) => expect.poll(() => textOf(page, '#state'), WAIT).toBe('live');
    for (const page of [feed, view, thread]) await isLive(page);

    /** Somebody else publishes, and says something of it: so many of each. */
    const act = async (round: string, many: number): Promise<void> => {
      for (let n = 0; n < many; n += 1) {
        const name = `${round} ${String(n)}`;
        await post(name);
        await like(name);
        await ask(
          app,
          `mutation ($id: ID!, $text: String!) {
            addInteraction(input: { actionId: $id, kind: COMMENT, text: $text }) { isReplay } }`,
          { id: about, text: name },
          { sub: 'fourth' },
        );
      }
    };
    const of = (rounds: readonly string[], many: number) =>
      rounds.flatMap((round) => Array.from({ length: many }, (_, n) => `${round} ${String(n)}`));
    const endsOf = (texts: readonly string[], names: readonly string[]) =>
      names.map((name) => texts.filter((text) => text.includes(name)).length);
    /** Each once, on each screen. */
    const isWhole = async (rounds: readonly string[]): Promise<void> => {
      const names = of(rounds, 3);
      const look = async () => ({
        feed: endsOf(await shown(feed), names),
        view: endsOf(await shown(view), names),
        thread: endsOf(await comments(), names),
      });
      const each = (count: number) => names.map(() => count);
      await expect.poll(look, WAIT).toEqual({ feed: each(2), view: each(1), thread: each(1) });
    };
    await act('live', 3);
    await isWhole(['live']);
    wire.cut();
    for (const page of [feed, view, thread])
      await expect.poll(() => textOf(page, '#state'), WAIT).not.toBe('live');
    await act('away', 3);
    wire.heal();
    await act('back', 3);
    await isWhole(['live', 'away', 'back']);
    // The same as after a reload, in the same order.
    const before = [await shown(feed), await shown(view), await comments()];
    for (const page of [feed, view, thread]) await page.reload();
    await isWhole(['live', 'away', 'back']);
    expect([await shown(feed), await shown(view), await comments()]).toEqual(before);
    // That the server was away is said by the browser itself.
    expect(errors.filter((text) => !text.startsWith('WebSocket connection to'))).toEqual([]);
  });
});
