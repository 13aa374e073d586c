import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { build } from 'vite';
import { expect } from 'vitest';
import type { HttpServerOptions } from '../../src/http/http-context.ts';
import type { HttpServer } from '../../src/http/server.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { startTestApp, type TestApp } from './app.ts';
import { clickOn, ofBrowser, openPage, textOf, type Visit } from './browser.ts';
import { startTestHttp } from './http.ts';
import { PATIENCE_MS } from './patience.ts';
import { PROJECT } from './project-copy.ts';

export const WAIT = { timeout: PATIENCE_MS, interval: 100 };
export const CONSOLE_ROLES = ['admin', 'service'] as const;

/** A server with the console as its sources have it, and a browser to look at it. */
export interface ConsoleWorld extends AsyncDisposable {
  readonly app: TestApp;
  /** The latest. */
  readonly server: HttpServer;
  /** Another one on the same port, for after it was closed. */
  serveAgain(): Promise<void>;
  /** A page below /console. */
  visit(path?: string): Promise<Visit>;
}

export async function openConsole(
  found: Browser | string,
  options: (app: TestApp) => Promise<Partial<HttpServerOptions>> = () => Promise.resolve({}),
  env: Readonly<Record<string, string>> = {},
): Promise<ConsoleWorld> {
  const browser = ofBrowser(found);
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-console-'));
  const configFile = join(PROJECT, 'console/vite.config.ts');
  const [app] = await Promise.all([startTestApp({ env }), build({ configFile, build: { outDir: folder } })]);
  const metrics = createMetrics({ withProcess: false });
  metrics.feedModelChosen({ model: 'items', cap: 1_000 });
  const given = {
    metrics,
    ...{ console: true, consoleFolder: folder },
    pageToken: await app.token('demo', [...CONSOLE_ROLES]),
    ...(await options(app)),
  };
  let server = await startTestHttp(app, given);
  return {
    app,
    get server() {
      return server;
    },
    async serveAgain() {
      server = await startTestHttp(app, { ...given, port: server.port });
    },
    visit: (path = '') => openPage(browser, `${server.url}/console${path}`),
    async [Symbol.asyncDispose]() {
      await browser.close();
      await server.close();
      await app[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

export function click(page: Page, text: string): Promise<void> {
  return clickOn(page, `::-p-xpath(//button[contains(normalize-space(.), "${text}")])`);
}

/** By the menu of the first item. */
export async function choose(page: Page, text: string): Promise<void> {
  await clickOn(page, 'article button[aria-haspopup="menu"]');
  await clickOn(page, `::-p-xpath(//*[@role="menuitem"][contains(., "${text}")])`);
}

export async function has(page: Page, text: string, selector = 'main'): Promise<void> {
  await expect.poll(() => textOf(page, selector), WAIT).toContain(text);
}

/** What a page can have wrong in the dark alone: the rest is the same in both. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** Colours are those at the end of what moves, which may begin only when the page has heard of a change and drawn it. */
const AT_REST = `(async () => {
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (await drawn(); ; await drawn()) {
    const moving = document.getAnimations().filter(({ playState }) => playState === 'running');
    if (moving.length === 0) return;
    await Promise.allSettled(moving.map(({ finished }) => finished));
  }
})()`;

/** What axe-core finds wrong, in the colours the page has now: by all its rules and that of the size of targets, in the whole page. */
export async function axeViolations(
  page: Page,
  { runOnly, within }: { readonly runOnly?: readonly string[]; readonly within?: string } = {},
): Promise<string[]> {
  // By the debugger: the page itself lets no such script in.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(await axeSource());
  await page.evaluate(AT_REST);
  const options = JSON.stringify({
    resultTypes: ['violations'],
    // Of WCAG 2.2, which is not among the rules that are on.
    ...(runOnly ? { runOnly } : { rules: { 'target-size': { enabled: true } } }),
  });
  const found = await page.evaluate(
    `axe.run(${within === undefined ? 'document' : JSON.stringify(within)}, ${options}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`,
  );
  return found as string[];
}

/** What axe-core finds wrong in light and in dark, each under its name. Leaves the page dark. */
export async function axeViolationsInBoth(
  page: Page,
  look: (name: 'light' | 'dark') => Promise<void> = () => Promise.resolve(),
): Promise<Record<string, string[]>> {
  const wrong: Record<string, string[]> = {};
  for (const value of ['light', 'dark'] as const) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
    const seen = await axeViolations(page, value === 'dark' ? { runOnly: OF_COLOURS } : {});
    if (seen.length > 0) wrong[value] = seen;
    await look(value);
  }
  return wrong;
}

let axe: Promise<string> | undefined;
function axeSource(): Promise<string> {
  return (axe ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
}

/** To look at: FANFARE_PICTURES names a folder. */
export async function picture(page: Page, name: string): Promise<void> {
  const pictures = process.env['FANFARE_PICTURES'];
  if (pictures !== undefined) await page.screenshot({ path: `${pictures}/${name}.png` as `${string}.png` });
}
