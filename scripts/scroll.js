/**
 * What scrolling through a long list costs: the virtual list of docs/react-more.md with 10,000 items in a browser, with the processor slowed
 * four-fold, and the work of the main thread without that, which a busy machine does not change. Beside it a list of plain elements of
 * one height, without React: what comes late there is of the browser and of the machine. Prints how many frames came late, the work of a
 * frame, the nodes and the memory: node scripts/scroll.js, behind npm run build.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';
import { build, preview } from 'vite';

const ITEMS = 10_000;
const SLOWED = 4;
const PIXELS_OF_A_FRAME = 400;
const FRAME_MS = 1_000 / 60;
const PAGE = fileURLToPath(new URL('../packages/react/test/fixtures/pages/virtual.tsx', import.meta.url));
const HTML = `<!doctype html><title>List</title><link rel="stylesheet" href="/style.css"><main><div id="root"></div></main><script type="module" src="/page.js"></script>`;
const PLAIN = `<!doctype html><title>Plain list</title><div id="root" style="position: relative"></div><script>
  const [root, rows, height] = [document.getElementById('root'), new Map(), 64];
  root.style.height = ${ITEMS} * height + 'px';
  const draw = () => {
    const from = Math.max(0, Math.floor(scrollY / height) - 8);
    const to = Math.min(${ITEMS} - 1, Math.ceil((scrollY + innerHeight) / height) + 8);
    for (const [at, row] of rows) if (at < from || at > to) { row.remove(); rows.delete(at); }
    for (let at = from; at <= to; at += 1) {
      if (rows.has(at)) continue;
      const row = document.createElement('article');
      row.style.cssText = 'position: absolute; width: 100%; height: 64px; top: ' + at * height + 'px';
      row.ariaPosInSet = String(at + 1);
      row.textContent = 'Item ' + at + '. ' + 'More of it. '.repeat(at % 7);
      rows.set(at, row);
      root.append(row);
    }
  };
  addEventListener('scroll', draw, { passive: true });
  draw();
</script>`;
/** Gives the intervals of the frames until the last item is there and in view. */
const SCROLL = `new Promise((resolve) => {
  const intervals = [];
  let last = performance.now();
  const step = (now) => {
    intervals.push(now - last);
    last = now;
    scrollBy(0, ${PIXELS_OF_A_FRAME});
    const isOver = document.querySelector('article[aria-posinset="${ITEMS}"]') !== null;
    if (isOver && innerHeight + scrollY >= document.documentElement.scrollHeight - 1) resolve(intervals);
    else requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;

const outDir = await mkdtemp(join(tmpdir(), 'fanfare-scroll-'));
const config = {
  ...{ configFile: false, logLevel: 'error', root: outDir },
  plugins: [
    {
      name: 'page',
      configurePreviewServer: ({ middlewares }) =>
        void middlewares.use((request, response, next) => {
          if (!request.url.startsWith('/?')) return next();
          response.setHeader('content-type', 'text/html; charset=utf-8');
          response.end(request.url === '/?plain' ? PLAIN : HTML);
        }),
    },
  ],
  build: {
    ...{ outDir, cssCodeSplit: false },
    rolldownOptions: {
      input: PAGE,
      output: { entryFileNames: 'page.js', assetFileNames: '[name][extname]' },
    },
  },
};
process.env.NODE_ENV = 'production';
await build(config);
const server = await preview({ ...config, preview: { port: 0, host: '127.0.0.1' } });
const browser = await puppeteer.launch({
  args: [...chromium.args.filter((arg) => arg !== '--single-process'), '--no-sandbox', '--disable-gpu'],
  executablePath: await chromium.executablePath(),
  ...{ headless: 'shell', protocolTimeout: 600_000 },
});
try {
  for (const slowed of [1, SLOWED]) {
    await scrolled('plain elements', '?plain', slowed);
    await scrolled('items', `?count=${ITEMS}`, slowed);
  }
} finally {
  await browser.close();
  await server.close();
  await rm(outDir, { recursive: true, force: true });
}

async function scrolled(what, query, slowed) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1_000, height: 800 });
  const session = await page.createCDPSession();
  await page.goto(`http://127.0.0.1:${server.httpServer.address().port}/${query}`);
  await page.waitForSelector('article');
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowed });
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const before = await counted(session);
  const intervals = await page.evaluate(SCROLL);
  const after = await counted(session);
  const late = intervals.filter((interval) => interval > FRAME_MS * 1.5).length;
  const work = ((after.TaskDuration - before.TaskDuration) * 1_000) / intervals.length;
  console.log(
    `${ITEMS} ${what}, processor slowed by ${slowed}: ${intervals.length} frames, ${((100 * late) / intervals.length).toFixed(1)} % late, ` +
      `${work.toFixed(2)} ms of work in a frame`,
  );
  for (const [what, name, unit] of [
    ['nodes', 'Nodes', 1],
    ['memory in MB', 'JSHeapUsedSize', 1e6],
  ])
    console.log(
      `  ${what}: ${(before[name] / unit).toFixed(0)} before, ${(after[name] / unit).toFixed(0)} after`,
    );
  await page.close();
}

async function counted(session) {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}
