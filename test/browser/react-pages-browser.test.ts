import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { clickOn, fillIn, findBrowser, ofBrowser, openPage, textOf } from '../support/browser.ts';
import { axeViolations, axeViolationsInBoth, click, has, WAIT } from '../support/console.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { controls, focused, pressed, settled, walk } from '../support/keyboard.ts';
import { isLeftOut } from '../support/needed.ts';
import { serveReactPages, type ReactPages } from '../support/react-pages.ts';

const found = await findBrowser();

describe.skipIf(isLeftOut(typeof found !== 'string'))('pages made of hooks and parts', () => {
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

  test('server-rendered HTML is hydrated without a warning, and continues live without a query of the feed', async () => {
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
    // A page that is closed does not say any more what it sent.
    const asked = await Promise.all(bodies);
    await page.close();
    await expect.poll(() => app.app.http?.stats().sockets, WAIT).toBe(0);
    expect(asked.filter((body) => body?.includes('query Feed') !== false)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('what the server has rendered has its colours under a policy that allows no style but those of files', async () => {
    await post('Heron');
    await app.idle();
    const page = await browser.newPage();
    await page.setRequestInterception(true);
    // As the server sends it, and never hydrated: the policy lets no script in.
    const html = (await (await fetch(pages.hydrated)).text()).replace(/<style>.*?<\/style>/s, '');
    page.on('request', (request) => {
      const headers = { 'content-security-policy': "default-src 'none'; style-src 'self'" };
      if (request.url() !== pages.hydrated) void request.continue();
      else void request.respond({ status: 200, contentType: 'text/html', headers, body: html });
    });
    const refused: string[] = [];
    page.on('console', (message) => {
      if (/style/i.test(message.text())) refused.push(message.text());
    });
    await page.goto(pages.hydrated);
    const colours = `[...document.querySelectorAll('[data-fanfare="avatar"]')].map((one) => getComputedStyle(one).backgroundColor)`;
    const seen = (await page.evaluate(colours)) as string[];
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((colour) => colour === 'rgba(0, 0, 0, 0)')).toEqual([]);
    expect(refused).toEqual([]);
    await page.close();
  });

  test.each(['', '?function'])(
    'a page whose origin the server refuses says so, once in the console, and the server warns once: %s',
    async (search) => {
      await using refusing = await startTestApp({ env: { CORS_ORIGINS: 'https://app.example' } });
      const url = `${pages.tabs}${search}#${refusing.url}/graphql`;
      const { origin } = new URL(url);
      await using visited = await openPage(browser, url);
      const { page, asked, errors } = visited;
      const said = `The server does not answer pages of ${origin}: its CORS_ORIGINS must have it`;
      await has(page, said, '[data-fanfare="error"]');
      // Until all that asks has asked several times.
      for (let time = 0; time < 3; time += 1) {
        const before = asked.length;
        await click(page, 'Try again');
        await expect.poll(() => asked.length, WAIT).toBeGreaterThan(before + 1);
      }
      await has(page, said, '[data-fanfare="error"]');
      // The browser itself says of each request that it was blocked.
      const own = errors.filter((text) => text.startsWith('Fanfare'));
      expect(own).toEqual([`Fanfare: ${said}`]);
      const warned = refusing.log.filter((line) => line.includes('it is not in CORS_ORIGINS'));
      expect(warned.map((line) => (JSON.parse(line) as { origin: string }).origin)).toEqual([origin]);
    },
  );

  test('Ctrl and Enter send a comment, but not while an input method composes it', async () => {
    await using visited = await openPage(browser, pages.states);
    const { page } = visited;
    const article = '[aria-label="refused"] article:first-child';
    await fillIn(page, `${article} textarea`, '日本');
    const press = (composing: object): Promise<unknown> =>
      page.evaluate(
        `document.querySelector(${JSON.stringify(`${article} textarea`)}).dispatchEvent(new KeyboardEvent('keydown', ${JSON.stringify(
          { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true, ...composing },
        )}))`,
      );
    const drafts = (): Promise<unknown> =>
      page.evaluate(`document.querySelectorAll(${JSON.stringify(`${article} [data-draft]`)}).length`);
    await press({ isComposing: true });
    await press({ keyCode: 229 });
    expect(await drafts()).toBe(0);
    await press({});
    await expect.poll(drafts, WAIT).toBe(1);
  });

  test('no state of any part has an axe-core violation: loading, empty, failed, waiting, rejected, undone', async () => {
    await using visited = await openPage(browser, pages.states);
    const { page, errors } = visited;
    const inside = (name: string, selector: string): string => `[aria-label="${name}"] ${selector}`;
    const press = (name: string, text: string): Promise<void> =>
      clickOn(page, `::-p-xpath((//section[@aria-label="${name}"]//button[contains(., "${text}")])[1])`);
    await has(page, 'That is all.', inside('refused', '[data-fanfare="end"]'));
    await press('a page that failed', 'Load more');
    await press('undone', 'Hide');
    for (const text of ['Like', 'Follow', 'Hide']) await press('refused', text);
    await fillIn(page, inside('refused', 'article:first-child textarea'), 'Kept');
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
    expect(await axeViolationsInBoth(page)).toEqual({});
    expect(errors).toEqual([]);
  });

  test('a screen reader is given what has come, what failed, and an item with its place', async () => {
    await using visited = await openPage(browser, pages.states);
    const { page } = visited;
    const given = async (name: string, selector: string): Promise<object | null> => {
      const root = await page.waitForSelector(`[aria-label="${name}"] ${selector}`);
      return page.accessibility.snapshot({ interestingOnly: false, ...(root && { root }) });
    };
    await has(page, 'It did not land', '[aria-label="error"] [data-fanfare="error"]');
    const failed = await given('error', '[data-fanfare="error"]');
    expect(failed).toMatchObject({ role: 'alert', live: 'assertive' });
    for (const said of ['"name":"It did not land"', '"role":"button"', '"name":"Try again"'])
      expect(JSON.stringify(failed)).toContain(said);
    await page.focus('[aria-label="waiting"] article');
    await settled(page);
    await page.evaluate('arrive()');
    const announcer = '[data-fanfare="root"] [data-fanfare="announcer"]';
    await has(page, '1 new items', `[aria-label="waiting"] ${announcer}`);
    const news = await given('waiting', announcer);
    expect(news).toMatchObject({ role: 'status', live: 'polite' });
    expect(JSON.stringify(news)).toContain('1 new items');
    // What has come is shown by its button, which leads to it.
    await page.focus('[aria-label="waiting"] [data-fanfare="new-items"] button');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-item="waiting-c"]:focus');
    expect(await given('waiting', '[data-item="waiting-c"]')).toMatchObject({
      ...{ role: 'article', name: 'Ada did waiting-c', description: 'unread', focused: true },
    });
  });

  test('all parts are reached and seen by keyboard alone, and nothing that is pressed loses the focus', async () => {
    const wrong: string[] = [];
    for (const address of [pages.states, pages.composing]) {
      await using visited = await openPage(browser, address);
      const { page } = visited;
      const open = async (): Promise<void> => {
        await page.goto(address);
        await page.waitForSelector('article, form');
        await settled(page);
      };
      await open();
      wrong.push(...(await walk(page, 'main')));
      for (const focus of await controls(page, 'main')) {
        await open();
        if (await focus()) wrong.push(...(await pressed(page, await focused(page))));
      }
    }
    expect(wrong).toEqual([]);
  });

  test('a list keeps what it has while the connection is lost, breaks long words, and begins at the side of its script', async () => {
    await using visited = await openPage(browser, `${pages.states}?more`);
    const { page, errors } = visited;
    await has(page, 'That is all.', '[aria-label="right to left"] [data-fanfare="end"]');
    // What was read stays, and nothing moves, while the connection is lost.
    await page.evaluate('lose()');
    const notice = '[aria-label="offline"] [data-fanfare="connection"]';
    await has(page, 'Connecting again …Try now', notice);
    expect(await page.$$('[aria-label="offline"] article')).toHaveLength(2);
    const layer = `getComputedStyle(document.querySelector('[aria-label="offline"] [data-fanfare="connection"]')).position`;
    expect(await page.evaluate(layer)).toBe('fixed');
    expect(await axeViolationsInBoth(page)).toEqual({});
    await page.evaluate('restore()');
    await expect.poll(() => textOf(page, notice), WAIT).toBe('');
    // Long words break, and what is written from right to left begins there, whatever is around it.
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    const sides = `[...document.querySelectorAll('[aria-label="right to left"] article')].map((one) => {
      const name = one.querySelector('a').getBoundingClientRect(), whole = one.getBoundingClientRect();
      return name.left + name.right > whole.left + whole.right;
    })`;
    expect(await page.evaluate(sides)).toEqual([true, false]);
    expect(errors).toEqual([]);
  });

  test('a sentence is seen in the order in which it is read, whatever the page, its language and its names are written in', async () => {
    await using visited = await openPage(browser, pages.sentences);
    const { page } = visited;
    await expect.poll(() => page.$$('[data-fanfare="summary"]'), WAIT).toHaveLength(72);
    // Names as a whole, all else word by word: in the direction of the language, with a space between any two.
    const seen =
      (await page.evaluate(`[...document.querySelectorAll('[data-fanfare="summary"]')].map((sentence) => {
      const isLeft = !['ar', 'he'].includes(sentence.parentElement.dataset.language);
      const range = document.createRange();
      const words = [...sentence.childNodes].flatMap((node) => {
        if (node.nodeType === Node.ELEMENT_NODE) return [{ text: node.textContent, ...node.getBoundingClientRect().toJSON() }];
        return [...node.data.matchAll(/\\S+/g)].map((word) => {
          range.setStart(node, word.index);
          range.setEnd(node, word.index + word[0].length);
          return { text: word[0], ...range.getBoundingClientRect().toJSON() };
        });
      }).sort((a, b) => isLeft ? a.left - b.left : b.right - a.right);
      const gaps = words.slice(1).map((word, at) => isLeft ? word.left - words[at].right : words[at].left - word.right);
      return { id: sentence.id, said: sentence.textContent, seen: words.map(({ text }) => text).join(' '), isApart: Math.min(...gaps) > 1 };
    })`)) as { id: string; said: string; seen: string; isApart: boolean }[];
    expect(seen.filter(({ said, seen: order, isApart }) => said !== order || !isApart)).toEqual([]);
  });

  test('a picture that cannot be loaded leaves the initials', async () => {
    await using visited = await openPage(browser, pages.sentences);
    const { page } = visited;
    const first = '[data-language="en"] [data-fanfare="avatar"]';
    await expect
      .poll(
        () => page.$$eval(first, ([one]) => (one as unknown as { textContent: string }).textContent),
        WAIT,
      )
      .toBe('AB');
    expect(await page.$$('[data-fanfare="avatar"] img')).toEqual([]);
  });

  test('the bell says how many are new, is used by keys alone, and has no axe-core violation in any state', async () => {
    await using visited = await openPage(browser, pages.states);
    const { page, errors } = visited;
    const bell = (name: string): string => `[aria-label="${name}"] [data-fanfare="bell"]`;
    const panel = '[data-fanfare="inbox"]:popover-open';
    const nameOf = (name: string) => page.$eval(bell(name), (button) => button.getAttribute('aria-label'));
    await expect.poll(() => nameOf('refused'), WAIT).toBe('Notifications of refused, 99+ new');
    await expect.poll(() => nameOf('waiting'), WAIT).toBe('Notifications of waiting, 3 new');
    for (const [name, text] of [
      ['loading', 'Mark all as read'],
      ['empty', 'Nothing yet.'],
      ['error', 'It did not land'],
      ['refused', 'Donaudampf'],
      // What the action says, since its newest event has no text.
      ['waiting', 'Mia posted long'],
    ] as const) {
      // A bell at the bottom opens its panel inside the window, too, also when the panel grows.
      await page.$eval(bell(name), (button) => {
        const low = button as unknown as { scrollIntoView(to: object): void; click(): void };
        low.scrollIntoView({ block: 'end' });
        low.click();
      });
      await has(page, text, panel);
      const below = `document.querySelector('${panel}').getBoundingClientRect().bottom - innerHeight`;
      await expect.poll(() => page.evaluate(below), WAIT).toBeLessThanOrEqual(0);
      // The panel covers some of what is below it.
      expect([name, await axeViolations(page, { within: panel })]).toEqual([name, []]);
      const wide = `(() => { const all = document.querySelector('${panel}'); return all.scrollWidth - all.clientWidth })()`;
      expect(await page.evaluate(wide)).toBe(0);
      await page.keyboard.press('Escape');
    }
    // The mark was refused, so it is as new as before.
    await expect.poll(() => nameOf('refused'), WAIT).toBe('Notifications of refused, 99+ new');
    await page.$eval(bell('waiting'), (button) => (button as unknown as { focus(): void }).focus());
    await page.keyboard.press('Enter');
    await has(page, 'أدا', panel);
    await expect.poll(() => nameOf('waiting'), WAIT).toBe('Notifications of waiting');
    expect(await page.$$(`${panel} article[data-unread]`)).toHaveLength(2);
    // By two buttons of the head and two tabs to the first article: under the focus what comes waits.
    for (let n = 0; n < 5; n += 1) await page.keyboard.press('Tab');
    await page.evaluate('new Promise((done) => setTimeout(done))');
    await page.evaluate('notify()');
    await has(page, '1 new', `${panel} [data-fanfare="new-items"]`);
    await page.keyboard.press('PageDown');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.$(panel), WAIT).toBeNull();
    expect(await page.evaluate('location.hash')).toBe('#/action-long');
    expect(await page.evaluate('document.activeElement.dataset.fanfare')).toBe('bell');
    // A panel that is opened again before it knows of its closing is the same one, in which what comes goes on waiting.
    await expect.poll(() => page.$('[data-fanfare="inbox"] article'), WAIT).toBeNull();
    await page.keyboard.press('Enter');
    await has(page, 'commented on new', panel);
    // All are read.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.$$(`${panel} article[data-unread]`), WAIT).toHaveLength(0);
    await expect.poll(() => nameOf('waiting'), WAIT).toBe('Notifications of waiting');
    expect(errors).toEqual([]);
  });

  test('marks nothing as read in a hidden page, and what is in view later after a while', async () => {
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

  test.each([0, 1])(
    'records what was in view for a while once, when the page is hidden, also if %i times it does not land',
    async (unrecorded) => {
      await using visited = await openPage(browser, `${pages.read}?unrecorded=${String(unrecorded)}`);
      const { page, errors } = visited;
      await page.locator('article:last-child[data-in-view="true"]').wait();
      await page.evaluate('dwell()');
      await page.evaluate('hide()');
      expect(await page.evaluate('shown')).toEqual([]);
      for (let times = 0; times < 2 + unrecorded; times += 1) {
        await page.evaluate('see()');
        await page.evaluate('dwell()');
        await page.evaluate('hide()');
      }
      const sent = ['action-b', 'action-a'].map((actionId) => ({
        actionId,
        view: 'hot',
        isAfterDwell: true,
      }));
      await expect.poll(() => page.evaluate('shown'), WAIT).toEqual(sent);
      expect(errors).toEqual([]);
    },
  );

  test('repeats a mark that failed, and keeps items unread that the reader marked so while they are in view', async () => {
    await using visited = await openPage(browser, `${pages.read}?refused=1`);
    const { page, errors } = visited;
    await page.locator('article:last-child[data-in-view="true"]').wait();
    await page.evaluate('see()');
    await expect.poll(() => page.evaluate('marked.length'), WAIT).toBe(1);
    await expect.poll(() => page.$$('article[data-unread]'), WAIT).toHaveLength(0);
    await page.evaluate('markUnread()');
    await expect.poll(() => page.$$('article[data-unread]'), WAIT).toHaveLength(1);
    await page.evaluate('dwell()');
    expect(await page.$$('article[data-unread]')).toHaveLength(1);
    expect(await page.evaluate('marked.length')).toBe(1);
    expect(errors).toEqual([]);
  });

  test('shows nothing of one reader, from the HTML or later, to the next', async () => {
    await using visited = await openPage(browser, pages.another);
    const { page, errors } = visited;
    await has(page, 'Ada did of-ann', '[role="feed"]');
    await has(page, 'g7', '[aria-label="Groups"] li');
    await has(page, 'muted by Ann', '#mutes');
    await click(page, 'Sign in as Bob');
    await page.locator('[data-fanfare="skeleton"]').wait();
    expect(await page.$$('article, [aria-label="Groups"] li')).toHaveLength(0);
    expect(await textOf(page, '#mutes')).toBe('loading');
    expect(errors).toEqual([]);
  });

  test("uses a new reader's own token function from the first request", async () => {
    await using visited = await openPage(browser, pages.changing);
    const { page, errors } = visited;
    const tokens = () => page.evaluate('[...new Set(tokens)]');
    await expect.poll(tokens, WAIT).toEqual(['Bearer of-ann']);
    await click(page, 'Sign in as Bob');
    await expect.poll(tokens, WAIT).toEqual(['Bearer of-ann', 'Bearer of-bob']);
    expect(errors).toEqual([]);
  });

  test('requests no comments while it is disabled', async () => {
    await using visited = await openPage(browser, pages.changing);
    const { page } = visited;
    await has(page, 'error, 0 actions', '#slice');
    expect(await page.evaluate("asked.filter((query) => query.startsWith('query Comments'))")).toEqual([]);
  });

  test('an undo offer ends in its time, however often it is rendered meanwhile', async () => {
    await using visited = await openPage(browser, pages.changing);
    const { page, errors } = visited;
    await click(page, 'Hide it');
    await has(page, 'Hidden', '[data-fanfare="undo"]');
    await expect.poll(() => textOf(page, '[data-fanfare="undo"]'), WAIT).toBe('');
    expect(errors).toEqual([]);
  });

  test('an error of one reader is not shown to the next', async () => {
    await using visited = await openPage(browser, pages.changing);
    const { page } = visited;
    await page.locator('[data-fanfare="follow"][title="It did not land"]').wait();
    await click(page, 'Another one');
    await page.locator('[data-fanfare="follow"]:not([title]):not([disabled])').wait();
  });

  test('items that a list renders later are marked as read too', async () => {
    await using visited = await openPage(browser, pages.changing);
    const { page } = visited;
    const marked = () => page.evaluate('marked');
    await expect.poll(marked, WAIT).toEqual(['action-b']);
    await click(page, 'Draw both');
    await expect.poll(marked, WAIT).toEqual(['action-b', 'action-a']);
  });

  test('the next page of a list continues after a failure of its first', async () => {
    await using visited = await openPage(browser, pages.changing);
    const { page } = visited;
    await has(page, 'error, 0 actions', '#slice');
    await click(page, 'More of it');
    await has(page, 'error, 0 actions', '#slice');
    await page.evaluate('land()');
    await click(page, 'More of it');
    await has(page, 'ready, 2 actions', '#slice');
  });

  test('shows each response of a query that is requested faster than the network answers', async () => {
    await using visited = await openPage(browser, pages.query);
    const { page, errors } = visited;
    await has(page, 'loading', '#text');
    for (let n = 0; n < 3; n += 1) await click(page, 'Reload');
    expect(await page.evaluate('asked()')).toEqual(['asked']);
    await page.evaluate("answer(0, 'first')");
    await has(page, 'first', '#text');
    // What was asked for meanwhile is asked for once, behind it.
    await expect.poll(() => page.evaluate('asked()'), WAIT).toEqual(['asked', 'asked']);
    await page.evaluate("answer(1, 'second')");
    await has(page, 'second', '#text');
    expect(errors).toEqual([]);
  });

  test('a group that disappears removes none that were loaded with it', async () => {
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

  test('changes of groups that could not be read are not lost, and waiting ones stay', async () => {
    await using visited = await openPage(browser, pages.another);
    const { page, errors } = visited;
    const shown = () => textOf(page, '[aria-label="Groups"] li');
    await expect.poll(shown, WAIT).toBe('g7 g6');
    await page.evaluate("addItem('new')");
    await has(page, '1', '#pending');
    await page.evaluate('away(true)');
    await page.click('#pending');
    // A watch of which the callback rejects connects again and makes the same call again.
    await expect(page.evaluate("removeGroup('g6')")).rejects.toThrow('Not here');
    await has(page, '1', '#pending');
    await page.evaluate('away(false)');
    await page.evaluate("removeGroup('g6')");
    await expect.poll(shown, WAIT).toBe('g7 g5');
    await has(page, '0', '#pending');
    expect(errors).toEqual([]);
  });

  test('a page without storage, and so without locks, is live on its own', async () => {
    await using visited = await openPage(browser, `${pages.tabs}?sandboxed`);
    const { page, errors } = visited;
    await has(page, 'live, leads', '#leads');
    await post('Wren');
    await has(page, 'Wren', '[role="feed"]');
    expect(errors).toEqual([]);
  });

  test("after any mark in one of two tabs with two filters, both show the server's items and count", async () => {
    for (let n = 0; n < 6; n += 1) await post(`Tab ${String(n)}.`);
    await app.idle();
    await using visited = await openPage(browser, pages.tabs);
    const { page: all, errors } = visited;
    const leads = (page: Page): Promise<string> => textOf(page, '#leads');
    await expect.poll(() => leads(all), WAIT).toBe('live, leads');
    const unread = await all.browserContext().newPage();
    await unread.goto(`${pages.tabs}?unread`);
    await expect.poll(() => leads(unread), WAIT).toBe('live, follows');
    // By their ids: what a reader likes is lifted on the server, and stays where it is in the tab in which they liked it.
    const shown = (page: Page) =>
      page.evaluate(`({
        items: [...document.querySelectorAll('article')].map((one) => [one.dataset.item, one.dataset.unread === 'true',
          one.querySelector('[aria-pressed]').ariaPressed === 'true']).sort(),
        count: Number(document.querySelector('[data-fanfare="unread-badge"]')?.textContent ?? 0),
      })`);
    interface Server {
      readonly feed: {
        readonly edges: readonly {
          readonly node: {
            readonly id: string;
            readonly isUnread: boolean;
            readonly action: { readonly viewer: { readonly hasLiked: boolean } };
          };
        }[];
        readonly unread: { readonly count: number };
      };
    }
    const stored = async () => {
      const { feed } = await ask<Server>(
        app,
        '{ feed(first: 50) { unread { count } edges { node { id isUnread action { viewer { hasLiked } } } } } }',
        {},
        { sub: 'ann' },
      );
      const items = feed.edges.map(
        ({ node }) => [node.id, node.isUnread, node.action.viewer.hasLiked] as const,
      );
      return { items: items.toSorted(([one], [other]) => (one < other ? -1 : 1)), count: feed.unread.count };
    };
    const agree = async (mark: string): Promise<void> => {
      await app.idle();
      await expect
        .poll(async () => {
          const { items, count } = await stored();
          const [inAll, inUnread] = [await shown(all), await shown(unread)];
          const wanted = [
            { items, count },
            { items: items.filter(([, isUnread]) => isUnread), count },
          ];
          return JSON.stringify([inAll, inUnread]) === JSON.stringify(wanted)
            ? ''
            : { mark, inAll, inUnread, wanted };
        }, WAIT)
        .toBe('');
    };
    await agree('none');
    const press = async (page: Page, title: string, name: string): Promise<void> => {
      const button = `//article[contains(., "${title}")]//button[contains(., "${name}")]`;
      await page.bringToFront();
      await clickOn(page, `::-p-xpath(${button})`);
      await agree(`${name} ${title}`);
    };
    await press(unread, 'Tab 5.', 'Read');
    await press(all, 'Tab 4.', 'Read');
    await press(all, 'Tab 5.', 'Unread');
    await press(unread, 'Tab 3.', 'Like');
    await press(all, 'Tab 3.', 'Like');
    await press(all, 'Tab 2.', 'Archive');
    await press(unread, 'Tab 3.', 'Archive');
    await press(unread, 'Tab 1.', 'Snooze');
    await press(all, 'Tab 0.', 'Hide');
    await press(all, 'Tab 4.', 'Hide');
    expect((await stored()).count).toBeGreaterThan(0);
    expect(errors).toEqual([]);
  });
});
