import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { clickOn, fillIn, findBrowser, ofBrowser, openPage, textOf } from '../support/browser.ts';
import { has, WAIT } from '../support/console.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { serveReactPages, type ReactPages } from '../support/react-pages.ts';
import { uniqueName } from '../support/unique-name.ts';

const found = await findBrowser();
/** Takes the connection of all tabs away and gives it back, as a tunnel does to a train; pages themselves are still there. */
const TUNNEL = `{ const real = fetch; const sockets = new Set();
  globalThis.requested = []; globalThis.subscribed = [];
  globalThis.fetch = (...of) => requested.push(String(of[1]?.body)) && localStorage.cut ? Promise.reject(new TypeError('There is no network')) : real(...of);
  globalThis.WebSocket = class extends WebSocket {
    constructor(url, protocol) { super(localStorage.cut ? 'ws://127.0.0.1:9' : url, protocol); sockets.add(this); }
    send(message) { subscribed.push(message); super.send(message); }
  };
  globalThis.cut = () => { localStorage.cut = 'yes'; sockets.forEach((one) => one.close(4900)); };
  globalThis.mend = () => { localStorage.removeItem('cut'); dispatchEvent(new Event('online')); }; }`;

describe.skipIf(isLeftOut(typeof found !== 'string'))('without a connection', () => {
  let app: TestApp;
  let browser: Browser;
  let pages: ReactPages;
  let reader = '';
  beforeAll(async () => {
    browser = ofBrowser(found);
    app = await startTestApp({ env: { POLL_INTERVAL: '20ms' } });
    pages = await serveReactPages(app.url, () => app.token(reader));
    await upsert(app, { members: [{ memberId: 'bea', name: 'Bea Costa' }] });
  });
  afterAll(async () => {
    await browser.close();
    await pages[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  const post = async (title: string): Promise<string> => {
    const posted = { postId: title, postTitle: title };
    const id = await publish(app, { actorId: 'bea', mentions: [reader], descriptor: { posted } });
    await app.idle();
    return id;
  };
  let more = '';
  const address = (): string => `${pages.offline}?reader=${reader}${more}`;
  const open = () => openPage(browser, address(), undefined, (page) => prepare(page));
  const prepare = async (page: Page): Promise<void> => {
    await page.evaluateOnNewDocument(TUNNEL);
  };
  /** Another page of the same profile. */
  const reopen = async (page: Page): Promise<Page> => {
    const other = await page.browserContext().newPage();
    await prepare(other);
    await other.goto(address());
    return other;
  };
  const write = async (page: Page, text: string): Promise<void> => {
    await fillIn(page, 'article textarea', text);
    await clickOn(page, 'article [data-fanfare="composer"] button[type="submit"]');
  };
  const recorded = async (id: string) => {
    const { action } = await ask<{
      action: {
        engagement: { likes: number };
        interactions: { edges: { node: { text: string } }[] };
      };
    }>(
      app,
      'query ($id: ID!) { action(id: $id) { engagement { likes } interactions(first: 50, kinds: [COMMENT]) { edges { node { text } } } } }',
      { id },
      { sub: reader },
    );
    // The latest first.
    return {
      likes: action.engagement.likes,
      texts: action.interactions.edges.map(({ node }) => node.text).reverse(),
    };
  };
  beforeEach(() => {
    more = '';
  });
  const said = (page: Page): Promise<unknown> => page.evaluate('said');

  test('read on a train: two comments and a like, the page is killed; back online all of it is there once, in order', async () => {
    reader = uniqueName('reader');
    const id = await post('Timetable');
    await using visited = await open();
    const { page } = visited;
    await has(page, 'Timetable', '[role="feed"]');
    await expect.poll(() => textOf(page, '#state'), WAIT).toBe('live');
    // All that is shown is kept.
    await expect.poll(() => page.evaluate(`indexedDB.databases().then((all) => all.length)`), WAIT).toBe(1);
    await page.evaluate('cut()');
    await expect.poll(() => textOf(page, '#state'), WAIT).toBe('waiting');
    await write(page, 'First thought');
    await write(page, 'Second thought');
    await clickOn(page, 'article [data-fanfare="reactions"] button');
    await expect.poll(() => page.$$('li[data-draft="sending"]'), WAIT).toHaveLength(2);
    await expect.poll(() => kept(page), WAIT).toBe(3);
    await post('Meanwhile');
    const [again] = await Promise.all([reopen(page), page.close()]);
    await has(again, 'Timetable', '[role="feed"]');
    await expect.poll(() => again.$$('li[data-draft="sending"]'), WAIT).toHaveLength(2);
    expect(await again.$$('[aria-pressed="true"]')).toHaveLength(1);
    expect(await textOf(again, '[role="feed"]')).not.toContain('Meanwhile');
    expect(await recorded(id)).toEqual({ likes: 0, texts: [] });
    await again.evaluate('mend()');
    await expect
      .poll(() => recorded(id), WAIT)
      .toEqual({ likes: 1, texts: ['First thought', 'Second thought'] });
    await has(again, 'Meanwhile', '[role="feed"]');
    const shown = `[...[...document.querySelectorAll('article')].find((one) => one.textContent.includes('Timetable')).querySelectorAll('li')]
      .map((one) => [one.querySelector('[data-fanfare="text"]').textContent, one.dataset.draft ?? null])`;
    await expect
      .poll(() => again.evaluate(shown), WAIT)
      .toEqual([
        ['Second thought', null],
        ['First thought', null],
      ]);
    expect(await again.$$('[aria-pressed="true"]')).toHaveLength(1);
    await expect.poll(() => kept(again), WAIT).toBe(0);
    expect(await said(again)).toEqual([]);
  });

  test('a page that is opened again shows feed and bell at once, and asks only for what has happened since', async () => {
    reader = uniqueName('reader');
    more = '&bell';
    for (const title of ['One', 'Two']) await post(title);
    await using visited = await open();
    const { page } = visited;
    await has(page, 'Two', '[role="feed"]');
    await expect.poll(() => textOf(page, '#bell'), WAIT).toBe('2 of 2');
    await post('Three');
    await expect.poll(() => textOf(page, '#bell'), WAIT).toBe('3 of 3');
    const whole = (): Promise<unknown> => keptLists(page);
    await expect.poll(whole, WAIT).toEqual([3, 0, 3, 3]);
    await page.evaluate('cut()');
    const [again] = await Promise.all([reopen(page), page.close()]);
    await has(again, 'Three', '[role="feed"]');
    await expect.poll(() => textOf(again, '#bell'), WAIT).toBe('3 of 3');
    await post('Four');
    await again.evaluate('mend()');
    await has(again, 'Four', '[role="feed"]');
    await expect.poll(() => textOf(again, '#bell'), WAIT).toBe('4 of 4');
    // Beside the comments of each item.
    const asked = (await again.evaluate('requested')) as string[];
    expect(asked.filter((query) => /\b(?:feed|notifications)\b/.test(query))).toEqual([]);
    const subscribed = (await again.evaluate('subscribed')) as string[];
    const begun = subscribed.filter((message) => /(?:feed|notification)Events\(/.test(message));
    expect(begun.map((message) => /"after":"[^"]+"/.test(message))).toEqual([true, true]);
  });

  test('a slice and a thread are shown as they were last, and read again with a connection', async () => {
    reader = uniqueName('reader');
    more = `&slice=${uniqueName('thing')}`;
    const refs = [{ id: more.slice('&slice='.length), type: 'thing', label: 'Thing' }];
    const about = async (title: string): Promise<string> => {
      const posted = { postId: title, postTitle: title };
      const id = await publish(app, { actorId: 'bea', mentions: [reader], refs, descriptor: { posted } });
      await app.idle();
      return id;
    };
    const id = await about('One');
    const say = (text: string) =>
      ask(app, 'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { isReplay } }', {
        input: { actionId: id, kind: 'COMMENT', text, actorId: 'bea' },
      });
    await say('Said before');
    await using visited = await open();
    const { page } = visited;
    await has(page, 'Said before', 'article li');
    await has(page, 'One', '#slice');
    const keptOf = `new Promise((done) => { const opened = indexedDB.open('kept');
      opened.onsuccess = () => { const all = opened.result.transaction('all').objectStore('all').getAllKeys();
        all.onsuccess = () => done(all.result.map((key) => /list (comments|slice) /.exec(key)?.[1]).filter(Boolean).sort()); }; })`;
    await expect.poll(() => page.evaluate(keptOf), WAIT).toEqual(['comments', 'slice']);
    await page.evaluate('cut()');
    const [again] = await Promise.all([reopen(page), page.close()]);
    await has(again, 'Said before', 'article li');
    await has(again, 'One', '#slice');
    await say('Said meanwhile');
    await about('Two');
    await again.evaluate('mend()');
    await has(again, 'Said meanwhile', 'article li');
    await has(again, 'Two', '#slice');
  });

  test('two tabs: what each has written is sent once, in the order in which it was written, and both show it', async () => {
    reader = uniqueName('reader');
    const id = await post('Shared');
    await using visited = await open();
    const { page } = visited;
    const other = await reopen(page);
    for (const tab of [page, other]) {
      await tab.bringToFront();
      await expect.poll(() => textOf(tab, '#state'), WAIT).toBe('live');
    }
    for (const tab of [page, other]) await tab.evaluate('cut()');
    await write(other, 'two');
    await expect.poll(() => kept(other), WAIT).toBe(1);
    await page.bringToFront();
    await write(page, 'three');
    await expect.poll(() => kept(page), WAIT).toBe(2);
    await other.bringToFront();
    await write(other, 'four');
    await expect.poll(() => kept(page), WAIT).toBe(3);
    for (const tab of [page, other]) await tab.evaluate('mend()');
    await expect.poll(() => recorded(id), WAIT).toEqual({ likes: 0, texts: ['two', 'three', 'four'] });
    for (const tab of [page, other]) {
      await tab.bringToFront();
      for (const text of ['two', 'three', 'four']) await has(tab, text, 'article li');
      await expect.poll(() => tab.$$('li[data-draft]'), WAIT).toHaveLength(0);
    }
    expect(await kept(page)).toBe(0);
    expect([await said(page), await said(other)]).toEqual([[], []]);
  });

  test('a page that ends at any step of what it keeps: nothing happens twice, and in order', async () => {
    reader = uniqueName('reader');
    const id = await post('Steps');
    await using visited = await open();
    let { page } = visited;
    const [written, texts]: [string[], unknown[]] = [[], []];
    for (const after of [0, 1, 2, 3, 4, 6, 9, 12, 16, 24]) {
      await expect.poll(() => textOf(page, '#state'), WAIT).toBe('live');
      await page.evaluate(`stopAt = steps + ${String(after)}`);
      for (const nth of [1, 2]) {
        const text = `After ${String(after)}, ${String(nth)}`;
        written.push(text);
        await write(page, text);
      }
      await expect.poll(() => page.evaluate('steps > stopAt'), WAIT).toBe(true);
      texts.push(...((await page.evaluate('texts')) as unknown[]));
      const former = page;
      page = await reopen(former);
      await former.close();
    }
    await expect.poll(() => kept(page), WAIT).toBe(0);
    expect(texts.length).toBeGreaterThan(2);
    // All that was kept, and what may have been kept when the page was closed; nothing twice.
    const sent = (await recorded(id)).texts;
    expect(sent.filter((text) => texts.includes(text))).toEqual(texts);
    expect(sent).toEqual(written.filter((text) => sent.includes(text)));
    expect(await said(page)).toEqual([]);
  });

  test('another reader sees nothing of it', async () => {
    reader = uniqueName('reader');
    await post('For the first');
    await using visited = await open();
    const { page } = visited;
    await has(page, 'For the first', '[role="feed"]');
    await page.evaluate('cut()');
    await write(page, 'Unsent');
    await expect.poll(() => kept(page), WAIT).toBe(1);
    await page.evaluate('offline.close()');
    reader = uniqueName('another');
    const other = await reopen(page);
    await other.evaluate('mend()');
    await has(other, 'Nothing.', '[data-fanfare="root"]');
    expect(await kept(other)).toBe(0);
    await other.evaluate('offline.clear()');
    expect(
      await other.evaluate(`new Promise((done) => { const opened = indexedDB.open('kept');
      opened.onsuccess = () => { const all = opened.result.transaction('all').objectStore('all').getAllKeys();
        all.onsuccess = () => done(all.result); }; })`),
    ).toEqual([]);
  });
});

/** Of each list that is kept and resumed: how many items it has, and how many are new. */
function keptLists(page: Page): Promise<unknown> {
  return page.evaluate(`new Promise((done) => { const opened = indexedDB.open('kept');
    opened.onsuccess = () => { const all = opened.result.transaction('all').objectStore('all').getAll();
      all.onsuccess = () => done(all.result.flatMap((one) => { try { const { page } = JSON.parse(one); return page.liveCursor === '' ? [] : [page.edges.length, page.unseen?.count ?? 0]; } catch { return []; } })); }; })`);
}

/** Writes that wait. */
function kept(page: Page): Promise<unknown> {
  return page.evaluate(`new Promise((done) => { const opened = indexedDB.open('kept');
    opened.onsuccess = () => { const all = opened.result.transaction('all').objectStore('all').getAllKeys();
      all.onsuccess = () => done(all.result.filter((key) => key.startsWith('fanfare write ')).length); }; })`);
}
