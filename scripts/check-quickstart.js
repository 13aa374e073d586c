/** The first section of docs/react.md, word for word: in a browser, the feed and the bell of its page move, with a type of one's own as well. */
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';
import { walkPage } from './walk-page.js';

const WITHIN_MS = 120_000;
/** What the page says after each publication, and its bell. */
const PUBLISHED = [
  ['posted Hello', 'Notifications, 1 new'],
  ['cooked Soup with Demo', 'Notifications, 2 new'],
];

/**
 * @param cwd an empty folder
 * @param options env: of the processes that are started
 * @returns faults, as lines
 */
export async function checkQuickstart(cwd, { env }) {
  const browser = await puppeteer.launch({
    args: [...chromium.args.filter((arg) => arg !== '--single-process'), '--no-sandbox', '--disable-gpu'],
    executablePath: await chromium.executablePath(),
    headless: 'shell',
  });
  const page = await browser.newPage();
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  const left = [...PUBLISHED];
  const says = (text) =>
    page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(text)})`, { timeout: WITHIN_MS });
  const after = async (command, text) => {
    if (command.endsWith('npx vite')) {
      await page.goto(/(http:\/\/[\w.]+:\d+)\//.exec(text)[1]);
      await says('Nothing yet.');
    }
    if (command.startsWith('curl')) {
      const [sentence, bell] = left.shift();
      await says(sentence);
      await page.waitForSelector(`[aria-label="${bell}"]`, { timeout: WITHIN_MS });
    }
    return null;
  };
  try {
    const { faults } = await walkPage('docs/react.md', {
      ...{ cwd, env, after },
      ...{ from: '## From an empty folder', to: '## Where to go on' },
    });
    if (left.length > 0)
      faults.push('docs/react.md: not all that it publishes comes to the page that it makes');
    faults.push(...errors.map((error) => `docs/react.md: the page says ${error}`));
    if (faults.length === 0) console.log('docs/react.md: its first feed and its bell move in a browser');
    return faults;
  } finally {
    await browser.close();
  }
}
