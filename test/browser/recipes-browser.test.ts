import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, preview, type InlineConfig, type PreviewServer } from 'vite';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleConfig } from '../../examples/react/config.ts';
import { withHostConfig } from '../../src/cli/host-config-file.ts';
import { ownTypes } from '../../parts/operators/src/own-types.ts';
import { descriptorTypes } from '../../src/descriptors/registry.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { clickOn, findBrowser, ofBrowser, openPage, textOf, type Visit } from '../support/browser.ts';
import { axeViolations, has, WAIT } from '../support/console.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { PROJECT } from '../support/project-copy.ts';
import { reactSources } from '../support/react-pages.ts';
import { recordingTerminal } from '../support/recording-terminal.ts';
import { commandContext } from '../support/command-context.ts';

const EXAMPLE = join(PROJECT, 'examples/recipes');
const found = await findBrowser();

const PAGES = [
  { name: 'React', file: 'index.html', source: 'main.tsx', lines: 120 },
  { name: 'Apollo Client', file: 'apollo.html', source: 'apollo.tsx', lines: 80 },
];
/** More than a page of a list has. */
const MANY = 30;

const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300"><rect width="400" height="300" fill="teal"/></svg>';

const picture = (name: string) => ({ url: `https://pictures.example/${name}.svg`, alt: `Soup, ${name}` });
const PICTURES = [
  { ...picture('pot'), width: 400, height: 300 },
  picture('plate'),
  picture('lost'),
  { url: 'https://pictures.example/soup.pdf', alt: 'The recipe', kind: 'FILE' },
];

/** As if there were pictures elsewhere; one of them is lost. */
async function withPictures(page: Page): Promise<void> {
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith('https://pictures.example/')) void request.continue();
    else if (url.endsWith('/lost.svg')) void request.abort();
    else void request.respond({ contentType: 'image/svg+xml', body: PICTURE });
  });
}

describe.skipIf(isLeftOut(typeof found !== 'string'))('a product with types of its own', () => {
  let app: TestApp;
  let browser: Browser;
  let server: PreviewServer;
  let folder: string;
  let reader = 'ann';
  beforeAll(async () => {
    const { terminal } = recordingTerminal();
    const { env } = await withHostConfig(
      commandContext({ env: {}, terminal }),
      join(EXAMPLE, 'fanfare.config.ts'),
    );
    browser = ofBrowser(found);
    app = await startTestApp({ env: { ...env, DIRECTORY_SEARCH: 'members', POLL_INTERVAL: '20ms' } });
    folder = await mkdtemp(join(tmpdir(), 'fanfare-recipes-'));
    const config: InlineConfig = {
      ...reactSources,
      ...exampleConfig({ url: app.url, token: () => app.token(reader) }),
      root: EXAMPLE,
      build: {
        outDir: folder,
        emptyOutDir: true,
        rolldownOptions: { input: PAGES.map(({ file }) => join(EXAMPLE, file)) },
      },
    };
    await build(config);
    server = await preview({ ...config, preview: { ...config.preview, port: 0, host: '127.0.0.1' } });
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await app[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const visit = (as: string, file: string): Promise<Visit> => {
    reader = as;
    const { port } = server.httpServer.address() as AddressInfo;
    return openPage(browser, `http://127.0.0.1:${String(port)}/${file}`, undefined, withPictures);
  };
  const press = (page: Page, text: string, within = ''): Promise<void> =>
    clickOn(page, `::-p-xpath(${within}//button[contains(normalize-space(.), "${text}")])`);

  test('its types are those that it was compiled with, and the pages are so short, without a cast', async () => {
    const { declarations, code } = ownTypes(descriptorTypes());
    expect(await readFile(join(EXAMPLE, 'src/fanfare.d.ts'), 'utf8')).toBe(declarations);
    expect(await readFile(join(EXAMPLE, 'src/fanfare.js'), 'utf8')).toBe(code);
    for (const { source, lines } of PAGES) {
      const written = await readFile(join(EXAMPLE, 'src', source), 'utf8');
      expect(written.split('\n').filter((line) => line.trim() !== '').length, source).toBeLessThanOrEqual(
        lines,
      );
      expect(written).not.toMatch(/\bas (?!More\b|Kit\b)\w|\bany\b|@ts-/);
    }
  });

  test.each(PAGES)(
    'in $name what somebody cooks with own fields is in the feed, live; it is liked and commented on with a mention, which a bell says',
    async ({ file, name }) => {
      const [reader, cook, dish] = [`ann ${name}`, `bea ${name}`, `Soup in ${name}`];
      await upsert(app, {
        members: [
          { memberId: reader, name: 'Ann Berg' },
          { memberId: cook, name: `Bea Costa of ${name}`, imageUrl: 'https://127.0.0.1:9/bea.png' },
        ],
        pairs: [{ followerId: reader, refId: cook }],
      });
      const cooked = (recipeName: string, more: object = {}) =>
        publish(app, {
          actorId: cook,
          descriptor: { recipeCooked: { recipeId: `recipe:${recipeName}`, recipeName, ...more } },
        });
      for (let n = 0; n < MANY; n += 1) await cooked(`Dish ${String(n)}`);
      await app.idle();
      await using visited = await visit(reader, file);
      const { page, errors } = visited;
      const first = '[role="feed"] article:first-child';
      await has(page, `Dish ${String(MANY - 1)}`, first);
      await cooked(dish, { rating: 4, note: 'More cumin.', pictures: PICTURES });
      await app.idle();
      await has(page, `cooked ${dish}`, first);
      await has(page, '★★★★☆', first);
      await has(page, 'More cumin.', first);
      // What cannot be loaded leaves what it shows.
      await has(page, 'Soup, lost', `${first} [data-fanfare="pictures"] p`);
      expect(await page.$$(`${first} [data-fanfare="pictures"] img`)).toHaveLength(2);
      await has(page, 'The recipe', `${first} a[data-fanfare="file"]`);
      expect(await page.$$eval(`${first} [role="img"]`, (all) => all.map((one) => one.ariaLabel))).toEqual([
        '4 of 5',
      ]);
      expect(await axeViolations(page)).toEqual([]);
      await engage(page, first);
      // What comes next is read as it comes into view.
      await page.evaluate('document.querySelector(\'[data-fanfare="load-more"]\')?.scrollIntoView()');
      await has(page, 'Dish 0', '[role="feed"]');
      await page.evaluate('scrollTo(0, 0)');
      // The menu takes it out of the feed, and the toast brings it back.
      await clickOn(page, `${first} [data-fanfare="more"]`);
      await press(page, 'Hide this', '//*[@role="menu"]');
      await expect.poll(() => textOf(page, '[role="feed"]'), WAIT).not.toContain(dish);
      await has(page, 'Undo', '[data-fanfare="undo"]');
      const toast = await page.$('[data-fanfare="undo"]');
      const heard = await page.accessibility.snapshot({
        interestingOnly: false,
        ...(toast === null ? {} : { root: toast }),
      });
      expect(heard).toMatchObject({ role: 'status', live: 'polite' });
      expect(JSON.stringify(heard)).toContain('"name":"Undo"');
      await press(page, 'Undo', '//*[@data-fanfare="undo"]');
      // It waits until it is asked for; what a cache has is shown at once.
      if (file === 'index.html') await press(page, '1 new', '//main');
      await has(page, `cooked ${dish}`, first);
      // Own actions come from the composer.
      await page.focus('main textarea');
      await page.keyboard.type(`Cake in ${name}`);
      await press(page, file === 'index.html' ? 'Publish' : 'Send', '//main');
      // The page of a person.
      await clickOn(page, `${first} [data-fanfare="summary"] a`);
      await has(page, 'Following', '[data-fanfare="follow"]');
      await has(page, '★★★★☆', 'main article');
      await press(page, 'Following', '//main');
      await has(page, 'Follow', '[data-fanfare="follow"][aria-pressed="false"]');
      expect(await axeViolations(page)).toEqual([]);
      await using other = await visit(cook, file);
      await clickOn(other.page, '[data-fanfare="bell"]');
      const inbox = '[data-fanfare="inbox"]:popover-open';
      await has(other.page, 'Ann Berg', inbox);
      await has(other.page, 'Lovely @Bea Costa', inbox);
      await press(other.page, 'Unread', '//*[@data-fanfare="inbox"]');
      await press(other.page, 'Settings', '//*[@data-fanfare="inbox"]');
      await has(other.page, 'Quiet hours', inbox);
      expect(errors).toEqual([]);
    },
  );

  /** Likes, reacts and comments, with a mention, an edit and a reply. */
  async function engage(page: Page, within: string): Promise<void> {
    const at = '//*[@role="feed"]/article[1]';
    await press(page, 'Like', at);
    await has(page, 'Like 1', within);
    // What a screen reader is given of it.
    const like = await page.$(`${within} [data-fanfare="toggle"]`);
    expect(await page.accessibility.snapshot(like === null ? {} : { root: like })).toMatchObject({
      ...{ role: 'button', name: 'Like 1', pressed: true },
    });
    await press(page, '😋', at);
    await has(page, '😋 1', within);
    await press(page, 'Comments', at);
    const area = `${within} textarea`;
    await page.locator(area).waitHandle();
    await page.focus(area);
    await page.keyboard.type('Lovly @Bea');
    await expect.poll(() => page.$$('[role="option"]'), WAIT).not.toHaveLength(0);
    await page.keyboard.press('Enter');
    await press(page, 'Send', `${at}//form`);
    await has(page, 'Lovly @Bea Costa', `${within} li`);
    await has(page, 'Comments 1', within);
    await press(page, 'Edit', `${at}//li`);
    await page.keyboard.press('Home');
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.type('e');
    await press(page, 'Save', `${at}//li`);
    await has(page, 'Lovely @Bea Costa', `${within} li`);
    await press(page, 'Reply', `${at}//li`);
    await page.keyboard.type('Again');
    await press(page, 'Reply', `${at}//li//form`);
    await has(page, 'Again', `${within} li li`);
  }
});
