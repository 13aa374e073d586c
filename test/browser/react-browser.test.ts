import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, HTTPRequest, Page } from 'puppeteer-core';
import { build, preview, type InlineConfig, type PreviewServer } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleConfig } from '../../examples/react/config.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { clickOn, fillIn, findBrowser, ofBrowser, openPage, textOf, type Visit } from '../support/browser.ts';
import { click, axeViolations, has, WAIT } from '../support/console.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { PROJECT } from '../support/project-copy.ts';

const found = await findBrowser();
/** Marks the frame after the one in which the first article came. */
const MARKING = `new MutationObserver((_, observer) => {
  if (document.querySelector('article') === null) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => performance.mark('first-feed')));
}).observe(document, { childList: true, subtree: true })`;

/** Lets a page have the first page of its feed, and no other answer of the API until the rest is let through. */
async function answerFeedAlone(page: Page) {
  const [asked, waiting]: [string[], HTTPRequest[]] = [[], []];
  let isOpen = false;
  const take = async (request: HTTPRequest): Promise<void> => {
    const text = request.hasPostData() ? await request.fetchPostData() : undefined;
    const { query = '' } = JSON.parse(text ?? '{}') as { query?: string };
    asked.push(query);
    if (isOpen || query === '' || query.startsWith('query Feed(')) await request.continue();
    else waiting.push(request);
  };
  await page.setRequestInterception(true);
  page.on('request', (request) => void take(request));
  return {
    asked,
    letThrough: async () => {
      isOpen = true;
      for (const request of waiting) await request.continue();
    },
  };
}

/** Lets a test cut the sockets of a page. */
const CUTTING = `{ const sockets = new Set(); globalThis.cut = () => sockets.forEach((one) => one.close(4900));
  globalThis.WebSocket = class extends WebSocket { constructor(...of) { super(...of); sockets.add(this); } }; }`;
/** Tells when the bell next shows a number. */
const WATCHING_BELL = `new MutationObserver(() => {
  if (document.querySelector('[data-fanfare="unseen-badge"]') === null) return;
  globalThis.onBell?.(Date.now());
  globalThis.onBell = undefined;
}).observe(document.querySelector('[data-fanfare="bell"]'), { childList: true, subtree: true })`;

const part = (path: string): string => join(PROJECT, 'packages', path);

describe.skipIf(isLeftOut(typeof found !== 'string'))('the React example', () => {
  let app: TestApp;
  let browser: Browser;
  let server: PreviewServer;
  let folder: string;
  let reader = 'ann';
  /** One for each reader: with one of each second a busy tab would have several, and a socket for each of them. */
  const tokens = new Map<string, Promise<string>>();
  const token = (): Promise<string> => {
    const known = tokens.get(reader) ?? app.token(reader);
    tokens.set(reader, known);
    return known;
  };
  beforeAll(async () => {
    browser = ofBrowser(found);
    app = await startTestApp();
    folder = await mkdtemp(join(tmpdir(), 'fanfare-example-'));
    const config: InlineConfig = {
      ...exampleConfig({ url: app.url, token }),
      ...{ configFile: false, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } },
      // Their sources, as everywhere in the tests.
      resolve: {
        alias: [
          { find: '@fanfare/react/style.css', replacement: part('react/style.css') },
          { find: '@fanfare/react/more', replacement: part('react/src/more.ts') },
          { find: '@fanfare/react', replacement: part('react/src/index.ts') },
          { find: '@fanfare/client', replacement: part('client/src/index.ts') },
        ],
      },
    };
    await build(config);
    server = await preview({ ...config, preview: { ...config.preview, port: 0, host: '127.0.0.1' } });
    const refs = [{ id: 'office', type: 'place', label: 'The office' }];
    const pairs = ['ann', 'bob', 'cleo', 'dan'].map((followerId) => ({ followerId, refId: 'john' }));
    await upsert(app, { members: [{ memberId: 'john', name: 'John' }], refs, pairs });
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await app[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const visit = (as: string): Promise<Visit> => {
    reader = as;
    const { port } = server.httpServer.address() as AddressInfo;
    return openPage(browser, `http://127.0.0.1:${String(port)}/`);
  };
  const comment = (actionId: string, sub: string): Promise<unknown> =>
    ask(
      app,
      'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { isReplay } }',
      { input: { actionId, kind: 'COMMENT', text: 'Well' } },
      { sub },
    );
  const post = (title: string, actorId = 'john'): Promise<string> =>
    publish(app, {
      actorId,
      scope: 'PUBLIC',
      refs: [{ id: 'office', type: 'place', label: 'The office' }],
      descriptor: { posted: { postId: `post:${title}`, postTitle: title } },
    });
  /** Several in one request. */
  const postAll = (titles: readonly string[]): Promise<unknown> =>
    ask(app, 'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { isReplay } }', {
      inputs: titles.map((title) => ({
        actorId: 'john',
        descriptor: { posted: { postId: `post:${title}`, postTitle: title } },
      })),
    });
  const named = (name: string, count: number): string[] =>
    Array.from({ length: count }, (_, n) => `${name} ${String(n)}.`);
  const feedText = (page: Page): Promise<string> => textOf(page, '[aria-label="Feed"]');
  const leads = (page: Page): Promise<string> => textOf(page, '#leader');

  test('shows groups, bookmarks, hidden items, mutes, a page, an explanation and the inbox', async () => {
    for (const title of ['Robin', 'Crane']) await post(title);
    await app.idle();
    await using visited = await visit('ann');
    const { page, errors } = visited;
    await has(page, 'Crane', '[aria-label="Feed"]');
    await has(page, '2 items', '#counts');
    // What was in view is marked, without a click.
    await has(page, '2 items, 0 unread', '#counts');
    await clickOn(page, 'article:first-child ::-p-xpath(.//button[contains(., "More")])');
    await has(page, 'Here because of FOLLOW john', '.why');
    await clickOn(page, 'article:first-child ::-p-xpath(.//button[contains(., "Bookmark")])');
    await clickOn(page, 'article:last-child ::-p-xpath(.//button[contains(., "Hide")])');
    await has(page, '1 items', '#counts');
    await click(page, 'bookmarks');
    await has(page, 'Crane');
    await click(page, 'Forget');
    await has(page, 'No bookmarks.');
    await click(page, 'hidden');
    await has(page, 'Robin');
    await click(page, 'Show again');
    await has(page, 'Nothing hidden.');
    await click(page, 'page');
    await has(page, 'Robin');
    await click(page, 'mutes');
    await fillIn(page, 'input[name="phrase"]', 'Robin');
    await click(page, 'Mute');
    await has(page, 'Unmute');
    await click(page, 'groups');
    await has(page, '1: John posted Crane');
    expect(await textOf(page, 'main')).not.toContain('Robin');
    await post('Swift');
    // A list that is read again after the mute may have it at once.
    const shown = async (): Promise<string> => {
      await (await page.$('::-p-xpath(//button[contains(., "1 new")])'))?.click();
      return textOf(page, 'main');
    };
    await expect.poll(shown, WAIT).toContain('Swift');
    const inbox = '::-p-xpath(//button[contains(., "Inbox")])';
    await clickOn(page, inbox);
    await has(page, 'Swift', '[data-fanfare="inbox"]');
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => textOf(page, '[data-fanfare="inbox"]:popover-open'), WAIT).toBe('');
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Inbox');
    expect(errors).toEqual([]);
  });

  test('eight tabs share one connection, show their feeds without their own, and lose nothing when its tab closes', async () => {
    await post('Avocet');
    await app.idle();
    await using visited = await visit('bob');
    const { page } = visited;
    await expect.poll(() => leads(page), WAIT).toBe('live, leads');
    const others: Page[] = [];
    for (let tab = 2; tab <= 7; tab += 1) {
      const other = await page.browserContext().newPage();
      await other.goto(page.url());
      others.push(other);
    }
    for (const other of others) await expect.poll(() => leads(other), WAIT).toBe('live, follows');
    // It is answered nothing but the first page: not even whose it is, without which no other tab tells it anything.
    const eighth = await page.browserContext().newPage();
    others.push(eighth);
    const { asked, letThrough } = await answerFeedAlone(eighth);
    await eighth.evaluateOnNewDocument(MARKING);
    await eighth.goto(page.url());
    await has(eighth, 'Avocet', '[aria-label="Feed"]');
    expect(await leads(eighth)).not.toContain('live');
    expect(asked.filter((query) => query.startsWith('query Feed('))).toHaveLength(1);
    // Those of pages that were closed before may be about to end.
    await expect.poll(() => app.app.http?.stats().sockets, WAIT).toBe(1);
    const shown = await eighth.evaluate("performance.getEntriesByName('first-feed')[0].startTime");
    process.stdout.write(`The eighth tab shows its feed after ${Number(shown).toFixed(0)} ms\n`);
    await letThrough();
    const all = [page, ...others];
    let states: string[] = [];
    const areShared = (tabs: readonly Page[]) =>
      expect
        .poll(async () => [...(states = await Promise.all(tabs.map(leads)))].sort(), WAIT)
        .toEqual([...tabs.slice(1).map(() => 'live, follows'), 'live, leads']);
    await areShared(all);
    // On a busy machine another may have taken over from the first.
    const leading = all[states.indexOf('live, leads')] ?? page;
    const left = all.filter((tab) => tab !== leading);
    await expect.poll(() => app.app.http?.stats().sockets, WAIT).toBe(1);
    const titles = named('Tern', 12);
    for (const [n, title] of titles.entries()) {
      await post(title);
      // By the debugger: the page is not asked.
      if (n === 5) await leading.close();
    }
    await app.idle();
    for (const other of left) {
      await expect
        .poll(async () => {
          await other.evaluate("document.querySelector('[data-fanfare=new-items] button')?.click()");
          const text = await feedText(other);
          return titles.filter((title) => !text.includes(title));
        }, WAIT)
        .toEqual([]);
    }
    await areShared(left);
    await expect.poll(() => app.app.http?.stats().sockets, WAIT).toBe(1);
  });

  test('two tabs with two filters agree about the unread count after a mark in one of them', async () => {
    await using visited = await visit('dan');
    const { page } = visited;
    await click(page, 'mutes');
    const other = await page.browserContext().newPage();
    await other.goto(page.url());
    await click(other, 'mutes');
    await click(other, 'Inbox');
    const before = await textOf(other, '[data-fanfare="inbox"]');
    const count = (one: Page): Promise<string> => textOf(one, '[data-fanfare="unread-badge"]');
    await postAll(named('Plover', 3));
    await has(other, 'Plover 2.', '[data-fanfare="inbox"]');
    for (const one of [page, other]) await expect.poll(() => count(one), WAIT).not.toBe('');
    // Its list marks what is in view for a while, and what is unread yet is brought there.
    // A tab in the background draws nothing, so nothing is in view there.
    await page.bringToFront();
    await click(page, 'feed');
    await expect
      .poll(async () => {
        await page.evaluate(
          "document.querySelector('article[data-unread]')?.scrollIntoView({ block: 'center' })",
        );
        return [await count(page), await count(other), await page.evaluate('document.visibilityState')];
      }, WAIT)
      .toEqual(['', '', 'visible']);
    await has(other, 'All read.', '[data-fanfare="inbox"]');
    await has(page, ', 0 unread', '#counts');
    expect(before).not.toContain('Plover');
  });

  test('a comment by somebody else moves the bell without a reload, the number goes out when it is opened, and a cut socket loses nothing', async () => {
    const [own = '', next = ''] = await Promise.all(
      ['My post', 'My next'].map((title) => post(title, 'eve')),
    );
    await app.idle();
    await using visited = await visit('eve');
    const { page, errors } = visited;
    await page.evaluateOnNewDocument(CUTTING);
    await page.reload();
    await expect.poll(() => leads(page), WAIT).toBe('live, leads');
    const bell = (): Promise<string | null> =>
      page.$eval('[data-fanfare="bell"]', (button) => button.getAttribute('aria-label'));
    const isSo = (name: string) => expect.poll(bell, WAIT).toBe(name);
    await isSo('Notifications');
    await page.evaluate(WATCHING_BELL);
    const took: number[] = [];
    for (let n = 1; n <= 20; n += 1) {
      const begun = Date.now();
      const changed = page.evaluate('new Promise((done) => { globalThis.onBell = done })');
      await comment(own, `commenter-${String(n)}`);
      took.push(Number(await changed) - begun);
      // One notification: they are all about one post.
      if (n === 1) await isSo('Notifications, 1 new');
      await clickOn(page, '[data-fanfare="bell"]');
      await isSo('Notifications');
      await page.keyboard.press('Escape');
    }
    took.sort((a, b) => a - b);
    process.stdout.write(
      `From a comment to the bell: p50 ${String(took[9])} ms, p90 ${String(took[17])} ms\n`,
    );
    await page.evaluate('cut()');
    await comment(own, 'while-away');
    await comment(next, 'while-away');
    await isSo('Notifications, 2 new');
    await clickOn(page, '[data-fanfare="bell"]');
    await has(page, 'while-away commented on your post', '[data-fanfare="inbox"]');
    await has(
      page,
      'while-away, commenter-20, and 19 others commented on your post',
      '[data-fanfare="inbox"]',
    );
    await isSo('Notifications');
    expect(await page.$$('[data-fanfare="inbox"] article[data-unread]')).toHaveLength(2);
    await clickOn(page, '[data-fanfare="inbox"] article [data-fanfare="open"]');
    await clickOn(page, '[data-fanfare="bell"]');
    await expect.poll(() => page.$$('[data-fanfare="inbox"] article[data-unread]'), WAIT).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  test('what a reader looks at stays in place while fifty items arrive above it', async () => {
    await postAll(named('Old', 24));
    await app.idle();
    await using visited = await visit('cleo');
    const { page } = visited;
    await has(page, 'Old 23.', '[aria-label="Feed"]');
    // Until the page knows: at its top what is new would be shown as it comes.
    await page.evaluate(`new Promise((done) => {
      addEventListener('scroll', () => requestAnimationFrame(() => requestAnimationFrame(done)), { once: true });
      scrollTo(0, 800);
    })`);
    const first = `(() => { const article = [...document.querySelectorAll('article')].find((one) =>
      one.getBoundingClientRect().bottom > 0); return [article.dataset.item, article.getBoundingClientRect().top]; })()`;
    const [item, before] = (await page.evaluate(first)) as [string, number];
    await postAll(named('New', 50));
    await has(page, '50 new', '[data-fanfare="new-items"]');
    const top = `document.querySelector('[data-item="${item}"]').getBoundingClientRect().top`;
    expect(Math.abs(Number(await page.evaluate(top)) - before)).toBeLessThanOrEqual(1);
    // Shown without the button, whose focus goes to the first of the new ones.
    await page.evaluate("document.querySelector('[data-fanfare=new-items] button').click()");
    await has(page, 'New 49.', '[aria-label="Feed"]');
    expect(await page.evaluate('document.activeElement.textContent')).toContain('New ');
    expect(
      await page.evaluate(
        'new Set([...document.querySelectorAll("article")].map((a) => a.dataset.item)).size',
      ),
    ).toBe(await page.evaluate('document.querySelectorAll("article").length'));
  });
});
