import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clickOn, fillIn, findBrowser, ofBrowser, openPage, untilVisible } from '../support/browser.ts';
import { axeViolationsInBoth, picture, WAIT } from '../support/console.ts';
import { openElementPages, type ElementPages } from '../support/element-pages.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { untilStill } from '../support/stillness.ts';
import { uniqueName } from '../support/unique-name.ts';

const found = await findBrowser();
/** Notes what the page says over its sockets. */
const NOTING = `{ globalThis.sockets = []; globalThis.said = [];
  globalThis.WebSocket = class extends WebSocket {
    constructor(...of) { super(...of); sockets.push(this); }
    send(text) { said.push(JSON.parse(text)); super.send(text); }
  }; }`;

describe.skipIf(isLeftOut(typeof found !== 'string'))('custom elements', () => {
  let browser: Browser;
  let pages: ElementPages;
  beforeAll(async () => {
    browser = ofBrowser(found);
    pages = await openElementPages();
    await upsert(pages.app, { members: [{ memberId: 'bea', name: 'Bea Costa' }] });
  });
  afterAll(async () => {
    await browser.close();
    await pages[Symbol.asyncDispose]();
  });

  const post = async (reader: string, title: string, refs: readonly object[] = []): Promise<string> => {
    const posted = { postId: title, postTitle: title };
    const id = await publish(pages.app, { actorId: 'bea', mentions: [reader], refs, descriptor: { posted } });
    await pages.app.idle();
    return id;
  };
  const as = (reader: string): string => {
    pages.token = () => pages.app.token(reader);
    return reader;
  };
  const open = (address: string) =>
    openPage(browser, address, undefined, (page) => page.evaluateOnNewDocument(NOTING).then(() => undefined));
  /** What an element shows on its own. */
  const shown = async (page: Page, selector: string): Promise<string> =>
    String(
      await page.evaluate(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].map(({ shadowRoot }) => shadowRoot.textContent).join(' | ')`,
      ),
    );
  const shows = (page: Page, selector: string, text: string) =>
    expect.poll(() => shown(page, selector), WAIT).toContain(text);

  test.for(['plain', 'vue', 'svelte'] as const)(
    'examples/elements: a feed and a bell in %s under a strict policy',
    async (name) => {
      const reader = as(uniqueName('reader'));
      await post(reader, 'Lunch', [{ id: 'office', type: 'place', label: 'The office' }]);
      await using visited = await open(pages.example(name));
      const { page, errors } = visited;
      await shows(page, 'fanfare-feed', 'Bea Costa posted Lunch');
      await post(reader, 'Dinner');
      await shows(page, 'fanfare-feed', 'Bea Costa posted Dinner');
      await clickOn(page, 'fanfare-bell >>> [data-fanfare="bell"]');
      await shows(page, 'fanfare-bell', 'Lunch');
      if (name === 'plain') await shows(page, 'fanfare-slice', 'Lunch');
      else {
        await clickOn(page, 'fanfare-bell >>> [data-fanfare="open"]');
        await expect
          .poll(() => page.evaluate("document.querySelector('[role=status]').textContent"), WAIT)
          .toMatch(/Lunch|Dinner|Bea/);
      }
      expect(await page.evaluate('sockets.length')).toBe(1);
      expect(errors).toEqual([]);
    },
  );

  test('what docs/elements.md shows works as it is written, with the address of the server', async () => {
    const reader = as(uniqueName('reader'));
    await post(reader, 'Documented');
    const text = await readFile(new URL('../../docs/elements.md', import.meta.url), 'utf8');
    const blocks = (language: string): string[] =>
      [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
        ([, code = '']) => code,
      );
    const placed = (html: string): string =>
      html
        .replace(/<script .*<\/script>\n/, '')
        .replaceAll(/<fanfare-\w+/g, (tag) => `${tag} server="${pages.app.url}/graphql"`);
    const [twoLines = '', before = ''] = blocks('html').map(placed);
    const [, renewing = ''] = blocks('js');
    const [look = ''] = blocks('css');
    const token = await pages.app.token(reader);
    {
      await using visited = await open(pages.page(twoLines.replace('…', token)));
      await shows(visited.page, 'fanfare-feed', 'Documented');
      expect(visited.errors).toEqual([]);
    }
    await using visited = await open(pages.page(`${placed('<fanfare-bell></fanfare-bell>')}${before}`, look));
    const { page, errors } = visited;
    expect(await page.evaluate('document.body.innerText')).toContain('The news are on their way.');
    await page.evaluate(renewing);
    await shows(page, 'fanfare-feed', 'Documented');
    const colour =
      "getComputedStyle(document.querySelector('fanfare-feed')).getPropertyValue('--fanfare-accent')";
    expect(await page.evaluate(colour)).toBe('#b3005e');
    expect(errors).toEqual([]);
  });

  test('twenty of them share one client and one socket, and each that is removed ends what it watched', async () => {
    const reader = as(uniqueName('reader'));
    const refs = Array.from({ length: 9 }, (_, n) => ({
      id: uniqueName('thing'),
      type: 'thing',
      label: `Thing ${String(n)}`,
    }));
    const ids = await Promise.all(refs.map((ref, n) => post(reader, `Of ${String(n)}`, [ref])));
    const slices = refs.map(({ id }) => `<fanfare-slice data-own ref-id="${id}"></fanfare-slice>`);
    const threads = ids.map((id) => `<fanfare-thread data-own action-id="${id}"></fanfare-thread>`);
    const body = `<fanfare-bell data-own></fanfare-bell><fanfare-feed data-own></fanfare-feed>${slices.join('')}${threads.join('')}`;
    await using visited = await open(pages.page(body));
    const { page, errors } = visited;
    for (const n of refs.keys()) await shows(page, 'fanfare-slice', `Of ${String(n)}`);
    const count = (type: string) => page.evaluate(`said.filter(({ type }) => type === '${type}').length`);
    await expect.poll(() => count('subscribe'), WAIT).toBe(20);
    // A like in the list is one in the page of the thing.
    await clickOn(page, 'fanfare-feed >>> article [aria-pressed]');
    const likes = () =>
      page.evaluate(`[...document.querySelectorAll('fanfare-feed, fanfare-slice')].flatMap(({ shadowRoot }) =>
      [...shadowRoot.querySelectorAll('[aria-pressed="true"]')]).length`);
    await expect.poll(likes, WAIT).toBe(2);
    await page.evaluate(
      "[...document.querySelectorAll('fanfare-slice')].slice(3).forEach((one) => one.remove())",
    );
    await expect.poll(() => count('complete'), WAIT).toBe(6);
    expect(await page.evaluate('[sockets.length, refused.length]')).toEqual([1, 1]);
    await page.evaluate("document.querySelectorAll('[data-own]').forEach((one) => one.remove())");
    // The last closes it.
    await expect.poll(() => page.evaluate('sockets[0].readyState'), WAIT).toBe(3);
    expect(errors).toEqual([]);
  });

  test('one that is moved goes on: its list, what is open and what is being written, without asking again', async () => {
    const reader = as(uniqueName('reader'));
    for (const title of ['First', 'Second']) await post(reader, title);
    await using visited = await open(pages.page('<section></section><fanfare-feed data-own></fanfare-feed>'));
    const { page, errors, asked } = visited;
    await shows(page, 'fanfare-feed', 'First');
    await clickOn(page, 'fanfare-feed >>> [aria-expanded="false"][data-fanfare="toggle"]');
    const area = 'fanfare-feed >>> textarea';
    await untilVisible(page, area);
    await fillIn(page, area, 'Half a thou');
    await expect
      .poll(() => page.evaluate("said.filter(({ type }) => type === 'subscribe').length"), WAIT)
      .toBe(2);
    const before = asked.length;
    const kept = await page.evaluate(`(() => {
      const feed = document.querySelector('fanfare-feed');
      const articles = [...feed.shadowRoot.querySelectorAll('article')];
      document.querySelector('section').append(feed);
      return new Promise((done) => setTimeout(() => done([
        articles.length,
        articles.every((one, at) => one === feed.shadowRoot.querySelectorAll('article')[at]),
        feed.shadowRoot.querySelector('textarea').value,
      ]), 100));
    })()`);
    expect(kept).toEqual([2, true, 'Half a thou']);
    await post(reader, 'Third');
    // The focus is in it: nothing moves under the reader's hands.
    await shows(page, 'fanfare-feed', '1 new');
    expect(asked.slice(before)).toEqual([]);
    expect(
      await page.evaluate("[sockets.length, said.filter(({ type }) => type === 'complete').length]"),
    ).toEqual([1, 0]);
    expect(errors).toEqual([]);
  });

  test('what stands between the tags is shown until there is something else; slots, words, theme and direction are those of the page', async () => {
    as(uniqueName('reader'));
    const item = uniqueName('item');
    const body = `<fanfare-feed id="none"><p id="without">Nothing is asked for</p></fanfare-feed>
      <fanfare-feed id="empty" data-own label="Leer"><p id="soon">Soon</p><p slot="empty" id="nobody">Nobody yet</p></fanfare-feed>
      <fanfare-bell id="bell" data-own><b slot="icon" id="icon">!</b></fanfare-bell>
      <div lang="de" dir="rtl"><fanfare-slice id="german" data-own ref-id="${item}" theme="dark"></fanfare-slice></div>`;
    await post(uniqueName('other'), 'Deutsch', [{ id: item, type: 'thing', label: 'Thing' }]);
    await publish(pages.app, {
      actorId: 'bea',
      scope: 'PUBLIC',
      refs: [{ id: item, type: 'thing', label: 'Thing' }],
      descriptor: { posted: { postId: 'p', postTitle: 'For all' } },
    });
    await using visited = await open(
      pages.page(body, 'button, article { display: none } :root { --fanfare-accent: rgb(1, 2, 3) }'),
    );
    const { page, errors } = visited;
    const isVisible = (id: string) => page.evaluate(`document.getElementById('${id}').checkVisibility()`);
    await expect.poll(() => isVisible('nobody'), WAIT).toBe(true);
    expect(await Promise.all(['without', 'soon', 'icon'].map(isVisible))).toEqual([true, false, true]);
    await shows(page, '#german', 'Gefällt mir');
    expect(await shown(page, '#bell')).not.toContain('Gefällt');
    const styles = (await page.evaluate(`(() => {
      const of = (id, selector, property) => getComputedStyle(document.getElementById(id).shadowRoot.querySelector(selector))[property];
      return {
        display: of('german', 'article', 'display'), direction: of('german', 'article', 'direction'), scheme: of('german', 'article', 'colorScheme'),
        accent: getComputedStyle(document.getElementById('german')).getPropertyValue('--fanfare-accent'),
      };
    })()`)) as object;
    expect(styles).toEqual({ display: 'block', direction: 'rtl', scheme: 'dark', accent: 'rgb(1, 2, 3)' });
    await page.evaluate("document.getElementById('german').words = { like: 'Sehr fein' }");
    await shows(page, '#german', 'Sehr fein');
    const ready = (await page.evaluate(
      "events.filter(([name]) => name === 'ready').map(([, id]) => id).sort()",
    )) as string[];
    expect(ready).toEqual(['bell', 'empty', 'german']);
    expect(errors).toEqual([]);
  });

  test('a token by attribute or property, one that ends and one that is refused; each server and token has its own', async () => {
    const [ann, bob] = [uniqueName('ann'), uniqueName('bob')];
    await post(ann, 'Of Ann');
    await post(bob, 'Of Bob');
    const server = `server="${pages.app.url}/graphql"`;
    const body = `<fanfare-feed id="ann" ${server} token="${await pages.app.token(ann)}"></fanfare-feed>
      <fanfare-feed id="bob" ${server}></fanfare-feed><fanfare-feed id="none" ${server} token="none"></fanfare-feed>
      <fanfare-feed id="own" data-own></fanfare-feed>`;
    const tokens = ['none', await pages.app.token(bob)];
    pages.token = () => Promise.resolve((tokens.length > 1 ? tokens.shift() : tokens[0]) ?? '');
    await using visited = await open(pages.page(body));
    const { page } = visited;
    await shows(page, '#ann', 'Of Ann');
    expect(await page.evaluate("document.getElementById('bob').shadowRoot.textContent")).toBe('');
    await page.evaluate(
      `document.getElementById('bob').token = ${JSON.stringify(await pages.app.token(bob))}`,
    );
    await shows(page, '#bob', 'Of Bob');
    expect(await page.evaluate("document.getElementById('bob').hasAttribute('token')")).toBe(false);
    await expect
      .poll(() => page.evaluate("events.some(([name, id]) => name === 'error' && id === 'none')"), WAIT)
      .toBe(true);
    await page.evaluate(
      `document.getElementById('none').setAttribute('token', ${JSON.stringify(await pages.app.token(ann))})`,
    );
    await shows(page, '#none', 'Of Ann');
    // The function was asked again with the one that was refused.
    await shows(page, '#own', 'Of Bob');
    expect(await page.evaluate('refused.includes("none")')).toBe(true);
    expect(await page.evaluate('refused[0] === undefined')).toBe(true);
  });

  test('keys, focus and place are those of a page without shadow roots; axe-core finds nothing wrong', async () => {
    const reader = as(uniqueName('reader'));
    for (let n = 0; n < 30; n += 1)
      await publish(pages.app, {
        actorId: 'bea',
        mentions: [reader],
        descriptor: { posted: { postId: String(n), postTitle: `Post ${String(n)}` } },
      });
    await pages.app.idle();
    const body = `<p>What is <a href="#above" id="above">above</a> it.</p><fanfare-bell data-own></fanfare-bell>
      <fanfare-feed data-own live="insert" label="News"></fanfare-feed><p>And <a href="#below" id="below">below</a> it.</p>`;
    await using visited = await open(pages.page(body));
    const { page, errors } = visited;
    await shows(page, 'fanfare-feed', 'Post 29');
    expect(await axeViolationsInBoth(page, (look) => picture(page, `elements-${look}`))).toEqual({});
    const focused = () =>
      page.evaluate(
        `(() => { const { activeElement: at } = document; return (at.shadowRoot?.activeElement ?? at).closest('article')?.getAttribute('aria-posinset') ?? at.id; })()`,
      );
    await page.focus('fanfare-feed >>> article');
    await page.keyboard.press('PageDown');
    expect(await focused()).toBe('2');
    await page.keyboard.down('Control');
    await page.keyboard.press('Home');
    expect(await focused()).toBe('above');
    await page.keyboard.up('Control');
    const first = `[...document.querySelector('fanfare-feed').shadowRoot.querySelectorAll('article')].find((one) => one.getBoundingClientRect().bottom > 0)`;
    await page.evaluate(`new Promise((done) => {
      document.getElementById('above').focus({ preventScroll: true });
      addEventListener('scroll', () => requestAnimationFrame(() => requestAnimationFrame(done)), { once: true });
      scrollTo(0, 700);
    })`);
    const place = async () =>
      (await page.evaluate(`((one) => [one.dataset.item, one.getBoundingClientRect().top])(${first})`)) as [
        string,
        number,
      ];
    await untilStill(page);
    const [id, top] = await place();
    await post(reader, 'Above all');
    await shows(page, 'fanfare-feed', 'Above all');
    await untilStill(page);
    const [after, now] = await place();
    expect(after).toBe(id);
    expect(Math.abs(now - top)).toBeLessThanOrEqual(1);
    // The panel of the bell closes by a click beside it, and not by one in it.
    await clickOn(page, 'fanfare-bell >>> [data-fanfare="bell"]');
    await clickOn(page, 'fanfare-bell >>> [data-fanfare="tabs"] button:last-child');
    const isOpen = () =>
      page.evaluate(
        `document.querySelector('fanfare-bell').shadowRoot.querySelector('[data-fanfare="inbox"]:popover-open') !== null`,
      );
    expect(await isOpen()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await isOpen()).toBe(false);
    expect(errors).toEqual([]);
  });

  test('a browser without stylesheets of scripts shows the same, where the policy of the page allows it', async () => {
    as(uniqueName('reader'));
    const address = pages.page('<fanfare-feed data-own theme="dark"></fanfare-feed>');
    await using visited = await openPage(browser, address, undefined, async (page) => {
      await page.setBypassCSP(true);
      await page.evaluateOnNewDocument(
        'delete Document.prototype.adoptedStyleSheets; delete ShadowRoot.prototype.adoptedStyleSheets',
      );
    });
    const { page, errors } = visited;
    await shows(page, 'fanfare-feed', 'Nothing yet.');
    const look = `(({ shadowRoot }) => { const { color, padding } = getComputedStyle(shadowRoot.querySelector('[data-fanfare="empty"]'));
      return [color, padding]; })(document.querySelector('fanfare-feed'))`;
    expect(await page.evaluate(look)).toEqual(['rgb(157, 163, 173)', '16px']);
    expect(errors).toEqual([]);
  });
});
