// The pictures of the README and the docs: npm run pictures [-- [--out folder] name …]. A server of its own with the demo, as somebody sees it who
// has just started both. Run it while the machine does nothing else: some of them say how long something took.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const NOT_WANTED = new Set([
  '--single-process',
  '--disable-web-security',
  '--allow-running-insecure-content',
]);
const FONTS = [
  ['system-ui', 'Open Sans'],
  ['monospace', 'DejaVu Sans Mono'],
];
/** So many actions, one a second, are on the charts. */
const LIVE = 240;
const QUICK_MS = 150;
const MOST_CLICKS = 12;

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string', default: at('docs') } },
});
const folder = await mkdtemp(join(tmpdir(), 'fanfare-pictures-'));
const env = { ...process.env, DATA_DIR: folder, PORT: '0', NODE_ENV: 'development' };
const children = [];
let browser;
let played;
try {
  const [url] = await printed(start('serve'), /http:\/\/[\w.:]+(?=\/console)/);
  const demo = start('demo', '--interval', '1s', '--count', String(LIVE));
  played = ended(demo);
  await printed(demo, /Live actions/);
  browser = await open();
  for (const [name, size, path, prepare] of [
    ['demo', [1100, 620], '/demo', playing],
    ['console-inspector', [1200, 700], '#/inspector/rita', seen('.inspected .why')],
    ['console-home', [1200, 700], '#/feed', seen('article [data-fanfare="summary"]')],
    ['console-types', [1200, 760], '#/types/posted', seen('[lang="de"]')],
    ['notifications', [1100, 620], '/demo', openingTheBell],
    ['console-overview', [1200, 760], '#/overview', afterwards],
  ])
    if (wanted.length === 0 || wanted.includes(name))
      await take(name, size, `${url}/console${path}`, prepare);
} finally {
  await browser?.close();
  for (const child of children.toReversed()) {
    const end = ended(child);
    if (child.exitCode === null) child.kill('SIGTERM');
    await end;
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 20 });
}

function start(...args) {
  const child = spawn(process.execPath, [at('bin/fanfare.js'), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

function ended(child) {
  return child.exitCode === null ? new Promise((resolve) => child.once('exit', resolve)) : Promise.resolve();
}

function printed(child, pattern) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
      const found = pattern.exec(text);
      if (found !== null) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`It ended with ${code}:\n${text}`)));
  });
}

/** With the font that Chromium brings: what a machine without a desktop has is none to show. */
async function open() {
  const executablePath = await chromium.executablePath();
  const fonts = join(folder, 'fonts.conf');
  const alias = ([family, by]) =>
    `<match target="pattern"><test name="family"><string>${family}</string></test>` +
    `<edit name="family" mode="prepend" binding="strong"><string>${by}</string></edit></match>`;
  await writeFile(
    fonts,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${tmpdir()}/fonts</dir>` +
      `<dir>/usr/share/fonts</dir><cachedir>${folder}/fonts</cachedir>${FONTS.map(alias).join('')}</fontconfig>`,
  );
  return puppeteer.launch({
    args: [...chromium.args.filter((arg) => !NOT_WANTED.has(arg)), '--no-sandbox', '--disable-gpu'],
    ...{ executablePath, headless: 'shell' },
    env: { ...process.env, LC_ALL: 'en_US.UTF-8', FONTCONFIG_FILE: fonts },
  });
}

async function take(name, [width, height], url, prepare) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport({ width, height, deviceScaleFactor: 1.5 });
  await page.goto(url, { waitUntil: 'networkidle2' });
  await prepare(page);
  await page.evaluate('document.fonts.ready');
  await page.screenshot({ path: join(values.out, `${name}.png`) });
  await context.close();
  console.log(`${name}.png`);
}

function seen(selector) {
  return (page) => page.waitForSelector(selector);
}

/** The charts are the fuller the longer it has played. */
async function afterwards(page) {
  await played;
  await page.reload({ waitUntil: 'networkidle2' });
  await page.waitForSelector('.plot canvas');
}

function press(page, text) {
  return page.locator(`::-p-xpath(//button[contains(., "${text}")])`).click();
}

/** Clicks until all rows that are shown were quick: what a busy machine takes says nothing of the server. */
async function playing(page) {
  const kinds = ['An application', 'A post', 'A comment', 'A hire', 'A rating'];
  for (let clicks = 0; clicks < MOST_CLICKS; clicks += 1) {
    await press(page, kinds[clicks % kinds.length]);
    await page.waitForFunction(
      `document.querySelector('.arrivals')?.textContent.includes('…') === false && document.querySelectorAll('.arrivals tr').length > ${Math.min(clicks, 4) + 1}`,
    );
    const times = await page.$$eval('.arrivals td', (cells) =>
      cells.map(({ textContent }) => parseInt(textContent, 10)),
    );
    if (clicks >= kinds.length && times.every((ms) => ms <= QUICK_MS)) return;
  }
  console.log(`This machine is busy, not all came within ${QUICK_MS} ms: the times are left out`);
  await page.reload({ waitUntil: 'networkidle2' });
}

async function openingTheBell(page) {
  await page.select('[data-side="left"] select', 'sue');
  await page.waitForSelector('[data-side="left"] [data-fanfare="unseen-badge"]');
  await page.locator('[data-side="left"] [data-fanfare="bell"]').click();
  await page.waitForSelector('[data-fanfare="inbox"] article');
}
