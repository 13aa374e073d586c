/** Of the tarballs of the client and of the package for React: how large they are, and that they work where they are meant to. */
import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

/** What a page loads of both, gzipped, without React. */
const LARGEST_BYTES = 20_000;
const READY_WITHIN_MS = 240_000;
const INSTALL = ['install', '--no-audit', '--no-fund', '--prefer-offline'];

/**
 * @param cwd an empty folder with all tarballs installed
 * @param options env: of the processes that are started; react, vite: the versions to install
 * @returns faults, as lines
 */
export async function checkReact(cwd, { env, react, vite }) {
  const run = (command, args) => promisify(execFile)(command, args, { cwd, env, maxBuffer: 1e8 });
  await run('npm', [...INSTALL, `react@${react}`, `react-dom@${react}`, `vite@${vite}`]);
  const size = await sizeOf(cwd);
  console.log(`@fanfare/react with the client: ${size} bytes gzipped, of ${LARGEST_BYTES}`);
  const faults = size > LARGEST_BYTES ? [`@fanfare/react: ${size} bytes gzipped, over ${LARGEST_BYTES}`] : [];
  faults.push(...(await checkServerComponent(cwd, { run, env, react })));
  faults.push(...(await checkExample(cwd, { run, env })));
  return faults;
}

/** As a bundler makes it for a browser, of all that the package exports. */
async function sizeOf(cwd) {
  const entry = join(cwd, 'entry.js');
  await writeFile(entry, "export * from '@fanfare/react';");
  const { output } = await build({
    ...{ root: cwd, configFile: false, logLevel: 'error' },
    build: {
      ...{ write: false, target: 'es2022' },
      rolldownOptions: {
        input: entry,
        preserveEntrySignatures: 'strict',
        external: [/^react(?:-dom)?(?:\/|$)/],
      },
    },
  });
  const code = output.map((part) => (part.type === 'chunk' ? part.code : '')).join('\n');
  // A bundle that has lost its parts would be small too.
  for (const name of ['Feed', 'useFeed', 'FanfareProvider'])
    if (!code.includes(` as ${name}`)) throw new Error(`The bundle has no ${name}`);
  return gzipSync(code).length;
}

const CLIENT_FILE = `'use client';
import { Feed, Summary, useFeed } from '@fanfare/react';
import { createElement as h } from 'react';
export function MyFeed() {
  const feed = useFeed({ first: 2 });
  const item = (item, index) => h(Feed.Item, { key: item.id, item, index }, h(Summary, { item }));
  return h(Feed.Root, { feed }, h(Feed.List, { label: 'News' }, item));
}`;

/** A page that is a server component, as it goes to the browser. */
const PAGE_FILE = `
import { FanfareProvider, UnreadBadge } from '@fanfare/react';
import { InboxPopover } from '@fanfare/react/more';
import { feedItemFields, prefetchFeed } from '@fanfare/react/server';
import { createElement as h } from 'react';
import { renderToPipeableStream } from 'react-server-dom-webpack/server';
import { MyFeed } from './my-feed.js';

const page = { edges: [], pageInfo: { hasNextPage: false, endCursor: null }, liveCursor: 'from-here' };
async function Page() {
  if (!feedItemFields.includes('relevancy')) throw new Error('No fields');
  const snapshot = await prefetchFeed({ feed: async () => page }, { first: 2 });
  return h(FanfareProvider, { url: '/graphql', token: 'token', snapshot },
    h(UnreadBadge), h(InboxPopover, { label: 'Inbox' }), h(MyFeed));
}
const modules = new Proxy({}, { get: (_, id) => ({ id, chunks: [], name: '*' }) });
renderToPipeableStream(h(Page), modules, { onError: (error) => { console.error(error); process.exitCode = 1; } })
  .pipe(process.stdout);`;

const REGISTER_FILE = `import { register } from 'node:module'; register('./hooks.js', import.meta.url);`;
/** React's own, which want texts where Node gives bytes, and no addresses of source maps. */
const HOOKS_FILE = `import { load as loadModule } from 'react-server-dom-webpack/node-loader';
export const load = (url, context, next) => loadModule(url, context, async (...args) => {
  const { source, ...rest } = await next(...args);
  return { ...rest, source: source?.toString().replace('sourceMappingURL', 'map') ?? source };
});`;

/** Loaded as a server for React's server components loads modules: with its condition, "use client" respected. */
async function checkServerComponent(cwd, { run, react }) {
  const folder = join(cwd, 'server-component');
  await mkdir(folder);
  // Its bundler is a peer that nothing here needs.
  await run('npm', [...INSTALL, '--legacy-peer-deps', `react-server-dom-webpack@${react}`]);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'my-feed.js'), CLIENT_FILE);
  await writeFile(join(folder, 'page.js'), PAGE_FILE);
  await writeFile(join(folder, 'register.js'), REGISTER_FILE);
  await writeFile(join(folder, 'hooks.js'), HOOKS_FILE);
  const args = [
    '--conditions',
    'react-server',
    '--import',
    join(folder, 'register.js'),
    join(folder, 'page.js'),
  ];
  const { stdout, stderr } = await run(process.execPath, args).catch((error) => error);
  const wanted = [
    ...['react/dist/index.js#FanfareProvider', 'react/dist/index.js#UnreadBadge'],
    ...['react/dist/more.js#InboxPopover', 'my-feed.js#MyFeed', 'from-here'],
  ];
  const missing = wanted.filter((text) => !stdout.includes(text));
  if (missing.length > 0)
    return [`A server component goes without ${missing.join(', ')}: ${stdout}${stderr}`];
  console.log('A server component has the provider, parts and a snapshot from the tarball');
  return [];
}

/** By its one command, beside nothing but what was installed. */
async function checkExample(cwd, { run, env }) {
  const folder = join(cwd, 'example-react');
  await cp('examples/react', folder, {
    recursive: true,
    filter: (path) => !/\.fanfare|node_modules/.test(path),
  });
  await run('npx', ['--no-install', 'vite', 'build', folder]);
  // Not by npx, which ends before what it has started.
  const program = join(cwd, 'node_modules/vite/bin/vite.js');
  const vite = spawn(process.execPath, [program, folder, '--host', '127.0.0.1'], {
    ...{ cwd, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true },
  });
  const ended = new Promise((resolve) => vite.once('exit', resolve));
  try {
    const url = await printedUrl(vite);
    const text = async (path, options) => (await fetch(new URL(path, url), options)).text();
    const token = await text('token');
    const answer = await text('graphql', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ feed { edges { node { action { descriptor { summary } } } } } }' }),
    });
    const script = await text('src/app.tsx');
    if (!/John Doe posted/.test(answer) || !/@fanfare_react|@fanfare\/react/.test(script))
      return [`examples/react: ${answer} ${script.slice(0, 400)}`];
    console.log('examples/react runs from the tarballs');
    return [];
  } finally {
    process.kill(-vite.pid, 'SIGTERM');
    await ended;
  }
}

function printedUrl(vite) {
  return new Promise((resolve, reject) => {
    let text = '';
    const late = setTimeout(() => reject(new Error(`Not ready in time:\n${text}`)), READY_WITHIN_MS);
    vite.stdout.on('data', (data) => {
      text += data;
      const [found] = /http:\/\/[\d.:]+\//.exec(text.replaceAll(/\u001b\[\d+m/g, '')) ?? [];
      if (found === undefined) return;
      clearTimeout(late);
      resolve(found);
    });
    vite.once('exit', (code) => {
      clearTimeout(late);
      reject(new Error(`It ended with ${code}:\n${text}`));
    });
  });
}
