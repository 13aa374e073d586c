import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, preview, type InlineConfig } from 'vite';
import type { exampleConfig } from '../../examples/react/config.ts';
import { PROJECT } from './project-copy.ts';
import { startTestApp, type TestApp } from './app.ts';

/** A server, and a host with pages of another origin. */
export interface ElementPages extends AsyncDisposable {
  readonly app: TestApp;
  /** What the host answers at /token. */
  token: () => Promise<string>;
  /**
   * A page with this body, under a policy that forbids all that is inline. Elements with `data-own` ask the server with the token that
   * the host answers. @returns its address
   */
  page(body: string, style?: string): string;
  /** examples/elements, as it is built. */
  example(name: 'plain' | 'vue' | 'svelte'): string;
}

/** Sets the same function on all elements, as a host's script does. */
const SCRIPT = `
  const getToken = async (refused) => {
    (window.refused ??= []).push(refused);
    return (await fetch('/token', { cache: 'no-store' })).text();
  };
  for (const element of document.querySelectorAll('[data-own]')) element.getToken = getToken;
  window.getToken = getToken;
  window.events = [];
  for (const name of ['ready', 'error', 'open'])
    addEventListener('fanfare-' + name, ({ target, detail }) =>
      window.events.push([name, target.id || target.localName, detail?.message ?? detail?.summary ?? null]));
`;

export async function openElementPages(): Promise<ElementPages> {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-elements-'));
  const { elements } = (await import(join(PROJECT, 'packages/elements/vite.config.js'))) as {
    elements(): Promise<InlineConfig>;
  };
  const config = await elements();
  await build({ ...config, build: { ...config.build, outDir: folder } });
  const file = join(folder, 'elements.js');
  const code = await readFile(file, 'utf8');

  const bodies = new Map<string, string>();
  let policy = '';
  const world = { token: () => Promise.resolve('') };
  const host = createServer((req, res) => {
    const path = req.url?.split('?')[0] ?? '';
    const send = (type: string, body: string): void => {
      res
        .writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': policy })
        .end(body);
    };
    if (path === '/elements.js') send('text/javascript', code);
    else if (path === '/page.js') send('text/javascript', SCRIPT);
    else if (path.endsWith('.css')) send('text/css', bodies.get(path) ?? '');
    else if (path === '/token') void world.token().then((token) => send('text/plain', token));
    else send('text/html', bodies.get(path) ?? '');
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${String((host.address() as AddressInfo).port)}`;
  const app = await startTestApp({ env: { CORS_ORIGINS: origin, POLL_INTERVAL: '20ms' } });
  policy =
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; ` +
    `connect-src 'self' ${app.url} ${app.url.replace('http', 'ws')}; require-trusted-types-for 'script'`;
  const { elementsConfig } = (await import(join(PROJECT, 'examples/elements/config.js'))) as {
    elementsConfig: typeof exampleConfig;
  };
  const given = elementsConfig({ url: app.url, token: () => world.token() });
  const example: InlineConfig = {
    ...given,
    ...{ configFile: false, logLevel: 'error', resolve: { alias: { '@fanfare/elements': file } } },
    plugins: [
      ...(given.plugins ?? []),
      {
        name: 'script',
        configurePreviewServer: ({ middlewares }) =>
          void middlewares.use('/elements.js', (_request, response) => {
            response.setHeader('content-type', 'text/javascript');
            response.end(code);
          }),
      },
    ],
    build: { ...given.build, outDir: join(folder, 'examples') },
  };
  await build(example);
  const server = await preview({ ...example, preview: { ...given.preview, port: 0, host: '127.0.0.1' } });
  const { port } = server.httpServer.address() as AddressInfo;
  return Object.assign(world, {
    app,
    page(body: string, style = 'body { background: Canvas }') {
      const path = `/page-${String(bodies.size)}`;
      bodies.set(`${path}.css`, style);
      bodies.set(
        path,
        `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page</title>
          <meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">
          <link rel="stylesheet" href="${path}.css"><script type="module" src="/page.js"></script>
          <script type="module" src="/elements.js"></script></head>
          <body><main><h1>Page</h1>${body.replaceAll('data-own', `data-own server="${app.url}/graphql"`)}</main></body></html>`,
      );
      return origin + path;
    },
    example: (name: string) => `http://127.0.0.1:${String(port)}/${name}.html`,
    async [Symbol.asyncDispose]() {
      await server.close();
      await new Promise((resolve) => host.close(resolve));
      await app[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  });
}
