// How long a browser takes from opening the console to the first feed on the screen, from a server on this machine that was
// built with npm run build. By Chromium's own clock, of profiles that have seen nothing: node scripts/first-feed.js.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';

const ITEMS = 30;
const VISITS = 9;
const PROGRAM = fileURLToPath(new URL('../bin/fanfare.js', import.meta.url));
/** Marks the frame after the one in which the first article came. */
const MARKING = `new MutationObserver((_, observer) => {
  if (document.querySelector('article') === null) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => performance.mark('first-feed')));
}).observe(document, { childList: true, subtree: true })`;
const TIMES = `[performance.getEntriesByName('first-contentful-paint')[0].startTime,
  performance.getEntriesByName('first-feed')[0].startTime]`;

const folder = await mkdtemp(join(tmpdir(), 'fanfare-first-feed-'));
const server = spawn(process.execPath, [PROGRAM, 'serve'], {
  env: { ...process.env, PORT: '0', DATA_DIR: folder },
  stdio: ['ignore', 'pipe', 'ignore'],
});
const ended = new Promise((resolve) => server.once('exit', resolve));
try {
  const [url, authorization] = await printed();
  for (let n = 0; n < ITEMS; n += 1) {
    const custom = `{ verb: "ran", objectType: "node", objectId: "${n}" }`;
    await ask(
      `mutation { publishAction(input: { mentions: ["demo"], descriptor: { custom: ${custom} } }) { isReplay } }`,
    );
  }
  while ((await ask('{ feed(first: 50) { edges { cursor } } }')).feed.edges.length < ITEMS);
  await measure(`${url}/console`);

  async function ask(query) {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const { data, errors } = await response.json();
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return data;
  }
} finally {
  server.kill('SIGTERM');
  await ended;
  await rm(folder, { recursive: true, force: true });
}

function printed() {
  return new Promise((resolve, reject) => {
    let text = '';
    server.stdout.on('data', (data) => {
      text += data;
      const found = [/http:\/\/[\w.:]+/, /Bearer \S+(?=\s)/].map((pattern) => pattern.exec(text)?.[0]);
      if (found.every((one) => one !== undefined)) resolve(found);
    });
    server.once('exit', (code) => reject(new Error(`The server ended with ${code}`)));
  });
}

async function measure(url) {
  const browser = await puppeteer.launch({
    args: [...chromium.args.filter((arg) => arg !== '--single-process'), '--no-sandbox', '--disable-gpu'],
    executablePath: await chromium.executablePath(),
    headless: 'shell',
  });
  try {
    const times = [];
    for (let visit = 0; visit < VISITS; visit += 1) {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      await page.evaluateOnNewDocument(MARKING);
      await page.goto(url);
      await page.waitForFunction("performance.getEntriesByName('first-feed').length > 0");
      times.push(await page.evaluate(TIMES));
      await context.close();
    }
    for (const [at, what] of ['first paint', 'first feed'].entries()) {
      const sorted = times.map((one) => Math.round(one[at])).sort((a, b) => a - b);
      console.log(`${what}: ${sorted[VISITS >> 1]} ms (${sorted[0]} to ${sorted.at(-1)}, ${VISITS} visits)`);
    }
  } finally {
    await browser.close();
  }
}
