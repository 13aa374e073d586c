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
import { clickOn, findBrowser, ofBrowser, openPage, type Visit } from '../support/browser.ts';
import { axeViolations, has, WAIT } from '../support/console.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { PROJECT } from '../support/project-copy.ts';
import { reactSources } from '../support/react-pages.ts';
import { recordingTerminal } from '../support/recording-terminal.ts';
import { commandContext } from '../support/command-context.ts';

const EXAMPLE = join(PROJECT, 'examples/recipes');
const found = await findBrowser();

const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300"><rect width="400" height="300" fill="teal"/></svg>';

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
      ...{ root: EXAMPLE, build: { outDir: folder, emptyOutDir: true } },
    };
    await build(config);
    server = await preview({ ...config, preview: { ...config.preview, port: 0, host: '127.0.0.1' } });
    await upsert(app, {
      members: [
        { memberId: 'ann', name: 'Ann Berg' },
        { memberId: 'bea', name: 'Bea Costa', imageUrl: 'https://127.0.0.1:9/bea.png' },
      ],
      pairs: [{ followerId: 'ann', refId: 'bea' }],
    });
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
    return openPage(browser, `http://127.0.0.1:${String(port)}/`, undefined, withPictures);
  };
  const press = (page: Page, text: string, within = ''): Promise<void> =>
    clickOn(page, `::-p-xpath(${within}//button[contains(normalize-space(.), "${text}")])`);

  test('its types are those that it was compiled with, and the page is made of at most 120 lines without a cast', async () => {
    const { declarations, code } = ownTypes(descriptorTypes());
    expect(await readFile(join(EXAMPLE, 'src/fanfare.d.ts'), 'utf8')).toBe(declarations);
    expect(await readFile(join(EXAMPLE, 'src/fanfare.js'), 'utf8')).toBe(code);
    const written = await readFile(join(EXAMPLE, 'src/main.tsx'), 'utf8');
    expect(written.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(120);
    expect(written).not.toMatch(/\bas \w|\bany\b|@ts-/);
  });

  test('what somebody cooks with own fields is in the feed, live; it is liked and commented on with a mention, which a bell says', async () => {
    const picture = (name: string) => ({ url: `https://pictures.example/${name}.svg`, alt: `Soup, ${name}` });
    const pictures = [
      { ...picture('pot'), width: 400, height: 300 },
      picture('plate'),
      picture('lost'),
      { url: 'https://pictures.example/soup.pdf', alt: 'The recipe', kind: 'FILE' },
    ];
    const recipeCooked = {
      ...{ recipeId: 'recipe:soup', recipeName: 'Soup', rating: 4, note: 'More cumin.' },
      pictures,
    };
    await publish(app, { actorId: 'bea', descriptor: { recipeCooked } });
    await app.idle();
    await using visited = await visit('ann');
    const { page, errors } = visited;
    await has(page, 'Bea Costa cooked Soup', 'article');
    await has(page, '★★★★☆', 'article');
    await has(page, 'More cumin.', 'article');
    // What cannot be loaded leaves what it shows.
    await has(page, 'Soup, lost', 'article [data-fanfare="pictures"] p');
    expect(await page.$$('article [data-fanfare="pictures"] img')).toHaveLength(2);
    await has(page, 'The recipe', 'article a[data-fanfare="file"]');
    expect(await page.$$eval('article [role="img"]', (all) => all.map((one) => one.ariaLabel))).toEqual([
      '4 of 5',
    ]);
    expect(await axeViolations(page)).toEqual([]);
    await press(page, 'Like', '//article');
    await has(page, 'Like 1', 'article');
    await press(page, '😋', '//article');
    await has(page, '😋 1', 'article');
    await press(page, 'Comments', '//article');
    const area = 'article textarea';
    await page.locator(area).waitHandle();
    await page.focus(area);
    await page.keyboard.type('Lovely @Bea');
    await expect.poll(() => page.$$('[role="option"]'), WAIT).toHaveLength(1);
    await page.keyboard.press('Enter');
    await press(page, 'Send', '//article//form');
    await has(page, 'Lovely @Bea Costa', 'article li');
    // Own actions and their notes come from the composer as well.
    await page.focus('main > form textarea');
    await page.keyboard.type('Cake');
    await press(page, 'Publish', '//main/form');
    await app.idle();
    // The menu takes it out of the feed, and the toast brings it back.
    await clickOn(page, 'article [data-fanfare="more"]');
    await press(page, 'Hide this', '//*[@role="menu"]');
    await expect.poll(() => page.$$('article'), WAIT).toHaveLength(0);
    await press(page, 'Undo', '//*[@data-fanfare="undo"]');
    await has(page, 'Bea Costa cooked Soup', 'article, [data-fanfare="new-items"]');
    // The page of a person.
    await clickOn(page, 'article [data-fanfare="summary"] a');
    await has(page, 'Following', '[data-fanfare="follow"]');
    await has(page, '★★★★☆', 'main article');
    expect(await axeViolations(page)).toEqual([]);
    await using other = await visit('bea');
    await clickOn(other.page, '[data-fanfare="bell"]');
    await has(other.page, 'Ann Berg', '[data-fanfare="inbox"]:popover-open');
    await has(other.page, 'Lovely @Bea Costa', '[data-fanfare="inbox"]:popover-open');
    expect(errors).toEqual([]);
  });
});
