import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { preview, type PreviewServer } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser, ofBrowser, openPage } from '../support/browser.ts';
import { axeViolations, axeViolationsInBoth } from '../support/console.ts';
import { isLeftOut } from '../support/needed.ts';
import { PROJECT } from '../support/project-copy.ts';
import { startCommand } from '../support/run-cli.ts';

const found = await findBrowser();
const MINUTES_MS = 300_000;

describe.skipIf(isLeftOut(typeof found !== 'string'))('the site of the docs', () => {
  let browser: Browser;
  let folder = '';
  let server: PreviewServer;
  beforeAll(async () => {
    browser = ofBrowser(found);
    folder = await mkdtemp(join(tmpdir(), 'fanfare-site-'));
    const vitepress = join(PROJECT, 'node_modules/vitepress/bin/vitepress.js');
    await using built = startCommand(
      process.execPath,
      [vitepress, 'build', join(PROJECT, 'docs'), '--outDir', folder],
      { env: {} },
    );
    const { code, stderr } = await built.result;
    expect(code, stderr).toBe(0);
    server = await preview({
      ...{ root: folder, configFile: false, logLevel: 'error', appType: 'mpa' },
      build: { outDir: folder },
      preview: { port: 0, host: '127.0.0.1' },
    });
  }, MINUTES_MS);
  afterAll(async () => {
    await browser.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const addressOf = (name: string): string => `${server.resolvedUrls?.local[0] ?? ''}${name}`;

  test.each(['index', 'react', 'api/queries'])(
    'around its text everybody can read it, in light and in dark: %s',
    async (name) => {
      await using visited = await openPage(browser, addressOf(`${name}.html`));
      expect(await axeViolationsInBoth(visited.page)).toEqual({});
      expect(visited.errors).toEqual([]);
    },
    MINUTES_MS,
  );

  test(
    'the text of every page can be read by everybody',
    async () => {
      const names = await readdir(folder, { recursive: true });
      const pages = names.filter((name) => name.endsWith('.html') && name !== '404.html');
      expect(pages.length).toBeGreaterThan(40);
      const wrong: Record<string, string[]> = {};
      await using visited = await openPage(browser, addressOf('index.html'));
      for (const name of pages) {
        await visited.page.goto(addressOf(name));
        const seen = await axeViolations(visited.page, { within: '#VPContent' });
        if (seen.length > 0) wrong[name] = seen;
      }
      expect(wrong).toEqual({});
    },
    MINUTES_MS,
  );
});
