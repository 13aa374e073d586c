import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, preview, type InlineConfig, type Plugin } from 'vite';
import { PROJECT } from './project-copy.ts';

const part = (path: string): string => join(PROJECT, 'packages', path);
const EMPTY = '<div id="root"></div>';
const PAGES = part('react/test/fixtures/pages');

/** The packages as their sources have them, with React as for development: it is what warns. */
export const reactSources: InlineConfig = {
  ...{ configFile: false, logLevel: 'error' },
  resolve: {
    alias: [
      { find: '@fanfare/react/style.css', replacement: part('react/style.css') },
      {
        find: /^@fanfare\/react\/(cache|more|offline|server|testing)$/,
        replacement: part('react/src/$1.ts'),
      },
      { find: '@fanfare/react/native', replacement: part('react/src/native.tsx') },
      { find: '@fanfare/react', replacement: part('react/src/index.ts') },
      { find: '@fanfare/client/offline', replacement: part('client/src/offline.ts') },
      { find: '@fanfare/apollo', replacement: part('apollo/src/index.ts') },
      { find: '@fanfare/client/cache', replacement: part('client/src/cache.ts') },
      { find: '@fanfare/client/operations', replacement: part('client/src/operations.ts') },
      { find: '@fanfare/client', replacement: part('client/src/index.ts') },
    ],
  },
};

/** What render.tsx of the pages has, which is checked with what runs in browsers. */
interface Rendering {
  render(url: string, token: string): Promise<{ readonly html: string; readonly handed: object }>;
}

export interface ReactPages extends AsyncDisposable {
  /** Rendered on the server, hydrated in the browser. */
  readonly hydrated: string;
  /** Every part in every state, without a server. */
  readonly states: string;
  /** A list that marks what is in view, in a page that is hidden at first. */
  readonly read: string;
  /** A list of 25 to which a test adds, as `live` in the address says. */
  readonly moving: string;
  /** A list from a snapshot and groups, of a reader after whom another one signs in. */
  readonly another: string;
  /** A query that is answered when the test says so. */
  readonly query: string;
  /**
   * A feed with a button for each mark, live in all tabs by one connection; with ?unread what is unread of it; with ?function
   * by a token function; with ?sandboxed in a page that may store nothing.
   */
  readonly tabs: string;
  /** Parts and hooks whose reader, properties or elements change while they are shown. */
  readonly changing: string;
  /** The list that the documentation draws itself, of 2,000. */
  readonly virtual: string;
  /** A thread in which somebody writes; with ?rtl from right to left, with ?german in German. */
  readonly composing: string;
  /** A feed, ?view of it or ?thread of an action, each live; in a list one can find something. */
  readonly lists: string;
  /** A feed with threads, whose lists and writes are kept; `cut` of the local storage takes its connection. */
  readonly offline: string;
  /** An app of React Native, as its build for the web. */
  readonly native: string;
  /** Sentences of four languages with names of three scripts, in pages of both directions. */
  readonly sentences: string;
}

/**
 * Pages of every part of packages/react.
 * @param url of a server, for what is rendered here
 * @param token of who looks at it
 */
export async function serveReactPages(url: string, token: () => Promise<string>): Promise<ReactPages> {
  const outDir = await mkdtemp(join(tmpdir(), 'fanfare-pages-'));
  const { render } = (await import(join(PAGES, 'render.tsx'))) as Rendering;
  const pages: Readonly<Record<string, () => Promise<string>>> = {
    hydrate: async () => {
      const { html, handed } = await render(`${url}/graphql`, await token());
      const json = JSON.stringify(handed).replaceAll('<', String.raw`\u003c`);
      return `<div id="root">${html}</div><script id="handed" type="application/json">${json}</script>`;
    },
    states: () => Promise.resolve(EMPTY),
    read: () => Promise.resolve(EMPTY),
    moving: () => Promise.resolve(EMPTY),
    another: () => Promise.resolve(EMPTY),
    query: () => Promise.resolve(EMPTY),
    virtual: () => Promise.resolve(EMPTY),
    sentences: () => Promise.resolve(EMPTY),
    changing: () => Promise.resolve(EMPTY),
    composing: () => Promise.resolve(EMPTY),
    ...Object.fromEntries(
      ['tabs', 'lists', 'offline', 'native'].map((name) => [
        name,
        async () => `${EMPTY}<script id="handed" type="text/plain">${await token()}</script>`,
      ]),
    ),
  };
  const serving: Plugin = {
    name: 'pages',
    configurePreviewServer: ({ middlewares }) =>
      void middlewares.use((request, response, next) => {
        const name = request.url?.slice(1).split('?')[0] ?? '';
        const body = pages[name];
        if (body === undefined) {
          next();
          return;
        }
        response.setHeader('content-type', 'text/html; charset=utf-8');
        if (request.url?.endsWith('?sandboxed') === true)
          response.setHeader('content-security-policy', 'sandbox allow-scripts');
        body().then((html) => response.end(document(name, html)), next);
      }),
  };
  const config: InlineConfig = { ...reactSources, root: PAGES, plugins: [serving] };
  const input = Object.fromEntries(Object.keys(pages).map((name) => [name, join(PAGES, `${name}.tsx`)]));
  await build({
    ...config,
    build: {
      outDir,
      minify: false,
      cssCodeSplit: false,
      rolldownOptions: { input, output: { entryFileNames: '[name].js', assetFileNames: '[name][extname]' } },
    },
  });
  const server = await preview({
    ...{ ...config, build: { outDir } },
    // A sandboxed page is of no origin, to which even its own scripts are somebody else's.
    preview: { port: 0, host: '127.0.0.1', cors: true, proxy: { '/graphql': { target: url, ws: true } } },
  });
  const { port } = server.httpServer.address() as AddressInfo;
  const at = (name: string): string => `http://127.0.0.1:${String(port)}/${name}`;
  return {
    ...{ hydrated: at('hydrate'), states: at('states'), read: at('read'), moving: at('moving') },
    ...{ another: at('another'), query: at('query'), tabs: at('tabs'), virtual: at('virtual') },
    ...{
      changing: at('changing'),
      sentences: at('sentences'),
      composing: at('composing'),
      lists: at('lists'),
      offline: at('offline'),
      native: at('native'),
    },
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await rm(outDir, { recursive: true });
    },
  };
}

/**
 * Without a background of its own axe-core takes a dark page for a white one. The script keeps what the server has sent,
 * to see whether it is what is hydrated.
 */
function document(name: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${name}</title>
    <meta name="color-scheme" content="light dark"><link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css">
    <style>body { background: Canvas }</style></head><body><main><h1>${name}</h1>${body}</main>
    <script>window.served = [...document.querySelectorAll('article')]</script>
    <script type="module" src="/${name}.js"></script></body></html>`;
}
