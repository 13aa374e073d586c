/** Runs a script of a page in Chromium, bundled from what is installed in a folder. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';
import { build } from 'vite';

const WITHIN_MS = 60_000;

/**
 * @param input a file, whose global `tried` is a promise of faults
 * @param html of the page
 * @returns these, and what the page or the browser warned of
 */
export async function inBrowser(input, html = '') {
  const code = await bundle(input);
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end(`<div id="root">${html}</div>`),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const browser = await puppeteer.launch({
    args: [...chromium.args.filter((arg) => arg !== '--single-process'), '--no-sandbox', '--disable-gpu'],
    executablePath: await chromium.executablePath(),
    headless: 'shell',
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(WITHIN_MS);
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      const isOfPage = !message.location().url?.endsWith('/favicon.ico');
      if (isOfPage && (message.type() === 'error' || message.type() === 'warn')) errors.push(message.text());
    });
    // Of an origin that the server of a test takes.
    await page.goto(`http://127.0.0.1:${server.address().port}`);
    await page.addScriptTag({ content: code });
    return [...(await page.evaluate('tried')), ...errors];
  } finally {
    await browser.close();
    server.close();
  }
}

/** As for development: then libraries warn. */
async function bundle(input) {
  const { output } = await build({
    ...{ root: new URL('.', `file://${input}`).pathname, configFile: false, logLevel: 'error' },
    define: { 'process.env.NODE_ENV': '"development"' },
    build: { write: false, minify: false, rolldownOptions: { input, output: { format: 'iife' } } },
  });
  return output[0].code;
}
