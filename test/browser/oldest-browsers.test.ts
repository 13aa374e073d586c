import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transformWithOxc } from 'vite';
import { buildTarget, oldestBrowsers, styleFor } from '../../scripts/oldest-browsers.js';
import { clickOn, findBrowser, ofBrowser, openPage, textOf } from '../support/browser.ts';
import { axeViolationsInBoth, has, WAIT } from '../support/console.ts';
import { isLeftOut } from '../support/needed.ts';
import { asOldestRead, newerApis, stylesBelow, without } from '../support/newer-than-oldest.ts';
import { PROJECT } from '../support/project-copy.ts';
import { serveReactPages, type ReactPages } from '../support/react-pages.ts';

const found = await findBrowser();
const PACKAGES = ['client', 'react', 'apollo', 'urql'].map((name) => `packages/${name}/src`);
const text = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');

test('the pages say which browsers are the oldest', () => {
  const of = Object.fromEntries(
    oldestBrowsers().map(({ name, version }) => [name, version.replace(/\.0$/, '')]),
  );
  expect(text('docs/client.md').replaceAll('\n', ' ')).toContain(
    `Chrome and Edge from ${String(of['chrome'])}, Firefox from ${String(of['firefox'])} and Safari from ${String(of['safari'])}`,
  );
  expect([of['edge'], of['ios_saf']]).toEqual([of['chrome'], of['safari']]);
});

test('a list of what is newer finds what the oldest browsers lack', () => {
  expect(asOldestRead(':root { color: light-dark(red, blue); } p:has(> b) { margin: 0; }').newer).toEqual([
    ':has',
    'light-dark()',
  ]);
});

describe('what the packages and the console use that is newer', () => {
  const apis = newerApis(PACKAGES);

  test('is known, and the console uses nothing of the kind on its own', () => {
    expect(apis.map(({ path }) => path)).toEqual([
      'api.HTMLElement.beforetoggle_event',
      'api.HTMLElement.hidePopover',
      'api.HTMLElement.showPopover',
      'api.ToggleEvent.newState',
      'html.elements.button.popovertarget',
      'html.global_attributes.popover',
    ]);
    expect(newerApis(['console/src'])).toEqual([]);
    // Asked for, and a style element where there are none: see elements-browser.test.ts.
    expect(newerApis(['packages/elements/src']).map(({ path }) => path)).toEqual([
      'api.CSSStyleSheet.replaceSync',
      'api.Document.adoptedStyleSheets',
    ]);
  });

  test('is no syntax: built for the oldest browsers, the packages are what they are', async () => {
    for (const file of await builtFiles()) {
      const [own, lowered] = await Promise.all(
        ['esnext', buildTarget()].map((target) =>
          transformWithOxc(text(file), file, { target, sourcemap: false }),
        ),
      );
      expect(`${file} ${String(lowered?.code === own?.code)}`).toBe(`${file} true`);
    }
  });

  describe.skipIf(isLeftOut(typeof found !== 'string'))('in a browser without it', () => {
    let browser: Browser;
    let pages: ReactPages;
    let style = '';
    beforeAll(async () => {
      browser = ofBrowser(found);
      pages = await serveReactPages('http://127.0.0.1:9', () => Promise.resolve('none'));
      const files = await Promise.all(
        ['tokens.css', 'feed.css', 'more.css'].map((file) => styleFor(join(PROJECT, 'packages/react', file))),
      );
      style = asOldestRead(files.join('')).css;
    });
    afterAll(async () => {
      await browser.close();
      await pages[Symbol.asyncDispose]();
    });

    const old = (url: string) =>
      openPage(browser, url, undefined, async (page) => {
        await page.evaluateOnNewDocument(without(apis));
        await page.setRequestInterception(true);
        page.on('request', (request) => {
          const isStyle = request.url().endsWith('/style.css');
          void (isStyle ? request.respond({ contentType: 'text/css', body: style }) : request.continue());
        });
      });

    test('all parts are there and can be read, in light and dark, and are where they are in a new one', async () => {
      await using visited = await old(pages.states);
      await using now = await openPage(browser, pages.states);
      const { page, errors } = visited;
      const end = '[aria-label="refused"] [data-fanfare="end"]';
      await has(page, 'That is all.', end);
      await has(now.page, 'That is all.', end);
      expect(await page.evaluate("'showPopover' in document.body")).toBe(false);
      // Far items are drawn by a guess of their height in new browsers only.
      const places = `[...document.querySelectorAll('[aria-label="refused"] [data-fanfare]')].map((one) => {
        const { width } = one.getBoundingClientRect();
        return [one.dataset.fanfare, Math.round(width)];
      })`;
      expect(await page.evaluate(places)).toEqual(await now.page.evaluate(places));
      expect(await axeViolationsInBoth(page)).toEqual({});
      expect(errors).toEqual([]);
    });

    test('the bell opens and closes by its button, Escape and a click elsewhere', async () => {
      await using visited = await old(pages.states);
      const { page, errors } = visited;
      const bell = '[aria-label="waiting"] [data-fanfare="bell"]';
      const panel = '[aria-label="Notifications of waiting"][data-fanfare="inbox"]';
      const isShown = (): Promise<boolean> =>
        page.$eval(
          panel,
          (one) => (one as unknown as { getClientRects(): object[] }).getClientRects().length > 0,
        );
      const until = (wanted: boolean) => expect.poll(isShown, WAIT).toBe(wanted);
      await page.waitForSelector(bell);
      await until(false);
      await clickOn(page, bell);
      await until(true);
      await expect.poll(() => textOf(page, panel), WAIT).toContain('Mia posted long');
      const solid = `(() => { const { backgroundColor: back, color } = getComputedStyle(document.querySelector('${panel}')); return back !== color && !/, 0\\)$|transparent/.test(back); })()`;
      expect(await page.evaluate(solid)).toBe(true);
      expect(await axeViolationsInBoth(page)).toEqual({});
      await page.keyboard.press('Escape');
      await until(false);
      expect(await page.evaluate('document.activeElement.dataset.fanfare')).toBe('bell');
      await page.focus(bell);
      for (const isOpen of [true, false, true]) {
        await page.keyboard.press('Enter');
        await until(isOpen);
      }
      await page.mouse.click(2, 2);
      await until(false);
      expect(errors).toEqual([]);
    });

    test('the console has no function and selector that the oldest browsers do not know, but where it asks for them', () => {
      const newer = stylesBelow('console/dist/assets').flatMap(
        (css) => asOldestRead(outsideOfSupports(css)).newer,
      );
      // What it does with :has is a matter of a line or a place.
      expect([...new Set(newer)].filter((one) => /[():]$|^[:@]/.test(one))).toEqual([':has']);
    });
  });
});

async function builtFiles(): Promise<string[]> {
  const folders = ['client', 'react', 'apollo', 'urql'].map((name) => `packages/${name}/dist`);
  const names = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(PROJECT, folder), { recursive: true })).map((name) => `${folder}/${name}`),
    ),
  );
  return names.flat().filter((name) => name.endsWith('.js'));
}

function outsideOfSupports(css: string): string {
  return css.replaceAll(/@supports[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, '');
}
