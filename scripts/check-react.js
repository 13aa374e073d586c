/** Of the package for React: that it works in a server component. Its unit tests hold its size. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

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

/**
 * Loads it as a server for React's server components loads modules: with its condition, "use client" respected.
 * @param cwd a folder with all packages and React installed
 * @param options run: starts a program
 * @returns faults, as lines
 */
export async function checkReact(cwd, { run }) {
  const folder = join(cwd, 'server-component');
  await mkdir(folder);
  // Its bundler is a peer that nothing here needs.
  const { version } = JSON.parse(await readFile(join(cwd, 'node_modules/react/package.json'), 'utf8'));
  await run('npm', ['install', '--legacy-peer-deps', `react-server-dom-webpack@${version}`], { cwd });
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
  const { stdout, stderr } = await run(process.execPath, args, { cwd }).catch((error) => error);
  const wanted = [
    ...['react/dist/parts.js#FanfareProvider', 'react/dist/parts.js#UnreadBadge'],
    ...['react/dist/more-parts.js#InboxPopover', 'my-feed.js#MyFeed', 'from-here'],
  ];
  const missing = wanted.filter((text) => !stdout.includes(text));
  if (missing.length > 0)
    return [`A server component goes without ${missing.join(', ')}: ${stdout}${stderr}`];
  console.log('A server component has the provider, parts and a snapshot');
  return [];
}
