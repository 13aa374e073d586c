import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { findBrowser, ofBrowser, openPage, textOf, type Visit } from '../support/browser.ts';
import { click, has, WAIT } from '../support/console.ts';
import { isLeftOut } from '../support/needed.ts';
import { serveReactPages, type ReactPages } from '../support/react-pages.ts';
import { inTenant, TENANT_CLAIM, tokenWith } from '../support/tenants.ts';
import { uniqueName } from '../support/unique-name.ts';

const found = await findBrowser();
/** Lets a test cut the sockets of a page. */
const CUTTING = `{ const sockets = new Set(); globalThis.cut = () => sockets.forEach((one) => one.close(4900));
  globalThis.WebSocket = class extends WebSocket { constructor(...of) { super(...of); sockets.add(this); } }; }`;
/** Parts of browsers that are younger than the oldest that are supported: Chrome 110, Firefox 115, Safari 16. */
const YOUNGER = `for (const [of, names] of [
  [AbortSignal, ['any', 'timeout']], [Promise, ['withResolvers', 'try']], [Array, ['fromAsync']],
  [Object, ['groupBy']], [Map, ['groupBy']], [URL, ['canParse', 'parse']],
  [Set.prototype, ['union', 'intersection', 'difference', 'isSubsetOf']],
  [String.prototype, ['isWellFormed', 'toWellFormed']], [Document.prototype, ['startViewTransition']],
  [HTMLElement.prototype, ['showPopover', 'hidePopover', 'togglePopover', 'popover']],
  [globalThis, ['Iterator', 'requestIdleCallback', 'scheduler', 'navigation']], [Intl, ['Segmenter', 'DurationFormat']],
]) for (const name of names) delete of[name];`;

describe.skipIf(isLeftOut(typeof found !== 'string'))('tabs of one browser', () => {
  let app: TestApp;
  let browser: Browser;
  let pages: ReactPages;
  let handed = '';
  beforeAll(async () => {
    browser = ofBrowser(found);
    app = await startTestApp({ env: { TENANT_CLAIM } });
    pages = await serveReactPages(app.url, () => Promise.resolve(handed));
  });
  afterAll(async () => {
    await browser.close();
    await pages[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  const leads = (page: Page): Promise<string> => textOf(page, '#leads');
  const isSo = (page: Page, state: string) => expect.poll(() => leads(page), WAIT).toBe(state);
  const feedOf = (page: Page): Promise<string> => textOf(page, '[role="feed"]');
  /** Each with a token of its own, in two tabs of one profile. */
  const open = async (
    first: string,
    second: string,
    query = '',
  ): Promise<Visit & { readonly other: Page }> => {
    handed = first;
    const visited = await openPage(browser, pages.tabs + query);
    const other = await visited.page.browserContext().newPage();
    await other.evaluateOnNewDocument(CUTTING);
    await isSo(visited.page, 'live, leads');
    handed = second;
    await other.goto(pages.tabs + query);
    return { ...visited, other };
  };
  const post = async (tenant: string, reader: string, title: string): Promise<void> => {
    const { errors } = await inTenant(app, tenant).query(
      `mutation ($reader: String!, $title: String!) { publishAction(input: { mentions: [$reader], descriptor: {
        posted: { postId: $title, postTitle: $title } } }) { isReplay } }`,
      { reader, title },
      { sub: 'john', roles: ['service'] },
    );
    expect(errors).toEqual([]);
  };

  test('of equal members of two tenants share nothing, though the host gives both one key', async () => {
    const name = uniqueName('admin');
    await post('acme', name, 'Acme before');
    const tokens = await Promise.all(['acme', 'globex'].map((tenant) => tokenWith(name, { tenant })));
    await using visited = await open(tokens[0] ?? '', tokens[1] ?? '');
    const { page, other, errors } = visited;
    await isSo(other, 'live, leads');
    await post('acme', name, 'Acme after');
    await post('globex', name, 'Globex after');
    await has(page, 'Acme after', '[role="feed"]');
    await has(other, 'Globex after', '[role="feed"]');
    expect(await feedOf(other)).not.toContain('Acme');
    expect(await feedOf(page)).not.toContain('Globex');
    expect(errors).toEqual([]);
  });

  test("whose token function returns another reader's token start again, and show nothing of the first", async () => {
    const [ann, bob] = [uniqueName('ann'), uniqueName('bob')];
    await post('acme', ann, 'Of Ann');
    await post('acme', bob, 'Of Bob');
    const tokens = await Promise.all([ann, bob].map((sub) => tokenWith(sub, { tenant: 'acme' })));
    await using visited = await open(tokens[0] ?? '', tokens[0] ?? '', '?function');
    const { page, other, errors } = visited;
    await isSo(other, 'live, follows');
    await has(other, 'Of Ann', '[role="feed"]');
    await other.evaluate(`token = ${JSON.stringify(tokens[1])}`);
    // Asks for a token.
    await click(other, 'Like');
    await has(other, 'Of Bob', '[role="feed"]');
    await isSo(other, 'live, leads');
    await post('acme', ann, 'Later of Ann');
    await post('acme', bob, 'Later of Bob');
    await has(other, 'Later of Bob', '[role="feed"]');
    await has(page, 'Later of Ann', '[role="feed"]');
    expect(await feedOf(other)).not.toContain('of Ann');
    expect(await feedOf(page)).not.toContain('of Bob');
    // Nothing was done in the name of the other one.
    expect(await page.$$('[aria-pressed="true"]')).toHaveLength(0);
    expect(errors).toEqual([]);
  });

  test('continue when the token of the connected one expires, which returns with another', async () => {
    const name = uniqueName('reader');
    const token = await tokenWith(name, { tenant: 'acme' });
    await using visited = await open(token, token, '?function');
    const { page: other, other: page, errors } = visited;
    // The second one leads.
    await isSo(page, 'live, follows');
    await other.reload();
    await isSo(page, 'live, leads');
    await isSo(other, 'live, follows');
    await page.evaluate("token = 'ended'; cut()");
    await isSo(page, 'ended, follows');
    await isSo(other, 'live, leads');
    await click(page, 'Try now');
    await post('acme', name, 'Afterwards');
    await has(other, 'Afterwards', '[role="feed"]');
    await isSo(page, 'ended, follows');
    expect(await leads(other)).toBe('live, leads');
    await page.evaluate(`token = ${JSON.stringify(token)}`);
    await click(page, 'Try now');
    await has(page, 'Afterwards', '[role="feed"]');
    await isSo(page, 'live, follows');
    expect(errors).toEqual([]);
  });

  test('take over from a frozen one, which follows when it wakes up', async () => {
    const name = uniqueName('reader');
    const token = await tokenWith(name, { tenant: 'acme' });
    await using visited = await open(token, token);
    const { page, other, errors } = visited;
    await isSo(other, 'live, follows');
    const debug = await page.createCDPSession();
    await debug.send('Debugger.enable');
    await debug.send('Debugger.pause');
    await post('acme', name, 'Meanwhile');
    await has(other, 'Meanwhile', '[role="feed"]');
    // Its list is read again before it hears of what is new by a connection of its own.
    await isSo(other, 'live, leads');
    await debug.send('Debugger.resume');
    await debug.detach();
    await isSo(page, 'live, follows');
    await has(page, 'Meanwhile', '[role="feed"]');
    await post('acme', name, 'Afterwards');
    for (const tab of [page, other]) await has(tab, 'Afterwards', '[role="feed"]');
    expect(await leads(other)).toBe('live, leads');
    expect(errors).toEqual([]);
  });

  test('work in a browser without features that the oldest supported ones lack', async () => {
    const name = uniqueName('reader');
    handed = await tokenWith(name, { tenant: 'acme' });
    await using visited = await openPage(browser, 'about:blank');
    const { page, errors } = visited;
    await page.evaluateOnNewDocument(YOUNGER);
    await page.goto(`${pages.tabs}?function`);
    await isSo(page, 'live, leads');
    expect(await page.evaluate("'any' in AbortSignal || 'union' in new Set()")).toBe(false);
    await post('acme', name, 'In an old one');
    await has(page, 'In an old one', '[role="feed"]');
    await click(page, 'Like');
    await page.locator('[aria-pressed="true"]').wait();
    expect(errors).toEqual([]);
  });
});
