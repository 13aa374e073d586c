import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type InlineConfig } from 'vite';
import { openPage } from '../../test/support/browser.ts';
import type { Browser, Page } from 'puppeteer-core';
import { PROJECT } from '../harness/child.ts';

/** Two pages that show the same: as elements, and as the parts that these are made of, with React. */
export const FRONTENDS = ['elements', 'React parts'] as const;
export type Frontend = (typeof FRONTENDS)[number];

/** A host with both pages. */
export interface Frontends extends AsyncDisposable {
  readonly origin: string;
  /** Bytes of scripts and styles as a server sends them. */
  readonly sizes: Readonly<Record<Frontend, number>>;
}

/** What one visit of a page took, from its address to the last of its items. */
export interface Visited {
  /** Of the main thread, in milliseconds. */
  readonly cpuMs: number;
  /** Of scripts and what they hold, after a collection, in MiB. */
  readonly heapMiB: number;
}

const REACT_PAGE = `
  import { FanfareProvider } from '@fanfare/react';
  import '@fanfare/react/style.css';
  import { createRoot } from 'react-dom/client';
  import { jsx, jsxs } from 'react/jsx-runtime';
  import { Around, BellOf, FeedOf } from '${join(PROJECT, 'packages/elements/src/parts.tsx')}';
  const { url, token } = JSON.parse(document.getElementById('given').textContent);
  const ofPage = { label: '', reactions: '', view: '', listId: '', live: '', first: 0, words: {}, language: 'en', hasPlaceholder: false,
    has: () => false, ready() {}, tell() {} };
  const bell = { ...ofPage, draw: () => jsx(BellOf, { element: bell }) };
  const feed = { ...ofPage, draw: () => jsx(FeedOf, { element: feed }) };
  createRoot(document.getElementById('root')).render(jsxs(FanfareProvider, { url, token, children: [
    jsx(Around, { element: bell, isFirst: true }, 0), jsx(Around, { element: feed, isFirst: false }, 1) ] }));
`;

/** @param given address of the API and token of the reader, known once the host's own address is */
export async function openFrontends(
  folder: string,
  given: () => { readonly url: string; readonly token: string },
): Promise<Frontends> {
  const { elements } = (await import(join(PROJECT, 'packages/elements/vite.config.js'))) as {
    readonly elements: () => Promise<InlineConfig>;
  };
  const config = await elements();
  const outDir = join(folder, 'frontends');
  await mkdir(outDir, { recursive: true });
  await build({ ...config, build: { ...config.build, outDir } });
  const entry = join(PROJECT, 'bench/world/frontends.page.js');
  const output = { entryFileNames: 'react.js', assetFileNames: 'react[extname]', codeSplitting: false };
  await build({
    ...config,
    plugins: [
      ...(config.plugins ?? []),
      {
        name: 'page',
        enforce: 'pre',
        resolveId: (id: string) => (id === entry ? id : null),
        load: (id: string) => (id === entry ? REACT_PAGE : null),
      },
    ],
    resolve: { alias: reactAliases(config) },
    build: { ...config.build, outDir, rolldownOptions: { input: entry, output } },
  });
  const read = (name: string): Promise<Buffer> => readFile(join(outDir, name));
  const files = new Map<string, Buffer>();
  for (const name of ['elements.js', 'react.js', 'react.css']) files.set(`/${name}`, await read(name));
  const sizeOf = (...names: readonly string[]): number =>
    names.reduce((sum, name) => sum + gzipSync(files.get(`/${name}`) ?? '').length, 0);
  const host = createServer((req, res) => {
    const path = req.url ?? '';
    const file = files.get(path);
    const type = path.endsWith('.js') ? 'text/javascript' : path.endsWith('.css') ? 'text/css' : 'text/html';
    res
      .writeHead(200, { 'content-type': `${type}; charset=utf-8` })
      .end(file ?? pageOf(path === '/elements' ? 'elements' : 'React parts', given()));
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${String((host.address() as AddressInfo).port)}`,
    sizes: { elements: sizeOf('elements.js'), 'React parts': sizeOf('react.js', 'react.css') },
    async [Symbol.asyncDispose]() {
      host.closeAllConnections();
      await new Promise((resolve) => host.close(resolve));
    },
  };
}

/** React in place of Preact. */
function reactAliases({ resolve }: InlineConfig): { find: string | RegExp; replacement: string }[] {
  const all = (resolve?.alias ?? []) as { find: string | RegExp; replacement: string }[];
  return [
    { find: '@fanfare/react/style.css', replacement: join(PROJECT, 'packages/react/style.css') },
    ...all.filter(({ find }) => String(find).includes('@fanfare')),
  ];
}

function pageOf(frontend: Frontend, given: { readonly url: string; readonly token: string }): string {
  const { url, token } = given;
  const own = `server="${url}" token="${token}"`;
  const [head, body] =
    frontend === 'elements'
      ? [
          '<script type="module" src="/elements.js"></script>',
          `<fanfare-bell ${own}></fanfare-bell><fanfare-feed ${own}></fanfare-feed>`,
        ]
      : [
          '<link rel="stylesheet" href="/react.css"><script type="module" src="/react.js"></script>',
          `<div id="root"></div><script id="given" type="application/json">${JSON.stringify(given)}</script>`,
        ];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page</title><link rel="icon" href="data:,">${head}</head><body>${body}</body></html>`;
}

const ITEMS = `(() => {
  const roots = [document, ...[...document.querySelectorAll('fanfare-feed')].flatMap(({ shadowRoot }) => shadowRoot ?? [])];
  return roots.flatMap((root) => [...root.querySelectorAll('article')]).length;
})()`;

/** Opens a page in a profile of its own, until it shows so many items and has nothing left to do. */
export async function visit(browser: Browser, address: string, items: number): Promise<Visited> {
  await using visited = await openPage(browser, address);
  const { page, errors } = visited;
  await page.waitForFunction(`${ITEMS} >= ${String(items)}`, { polling: 50 });
  await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve))');
  const { TaskDuration: seconds = NaN } = await page.metrics();
  if (errors.length > 0) throw new Error(`The page failed: ${errors.join('; ')}`);
  return { cpuMs: seconds * 1_000, heapMiB: await heapOf(page) };
}

async function heapOf(page: Page): Promise<number> {
  const client = await page.createCDPSession();
  await client.send('HeapProfiler.collectGarbage');
  const { usedSize } = await client.send('Runtime.getHeapUsage');
  return usedSize / 1_048_576;
}
