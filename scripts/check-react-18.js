/** Of the package for React with the lowest React it is for: rendered by Node, taken over and moved on in a browser. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inBrowser } from './in-browser.js';
import { lowestPeers } from './lowest.js';
import { oldestTypeFaults } from './oldest-types.js';
import { walkPage } from './walk-page.js';

const PAGE_FILE = `
import { FanfareProvider, Feed, Reactions, Summary, UnreadBadge, useFeed } from '@fanfare/react';
import { createTestClient, testItem } from '@fanfare/react/testing';
import { createElement as h, StrictMode } from 'react';

const at = (n) => new Date(Date.UTC(2026, 0, n)).toISOString();
export const item = (n) => testItem('item-' + n, at(n));
export const client = createTestClient({
  feed: () => [item(2), item(1)],
  request: () => ({ viewer: { unreadCount: { count: 2, isExact: true } } }),
  mutations: { addInteraction: ({ input }) => Promise.reject(new Error('No')) },
});
function List() {
  const feed = useFeed({ first: 2 });
  const entry = (one, index) => h(Feed.Item, { key: one.id, item: one, index },
    h(Summary, { item: one }), h(Reactions, { actionId: one.action.id, onError: (error) => { globalThis.refused = error.message; } }));
  return h(Feed.Root, { feed }, h(Feed.NewItems), h(Feed.Announcer), h(Feed.Skeleton), h(Feed.List, { label: 'News' }, entry), h(Feed.End, null, 'All'));
}
export const page = (snapshot) => h(StrictMode, null, h(FanfareProvider, { client, snapshot }, h(UnreadBadge), h(List)));`;

const SERVER_FILE = `
import { prefetchFeed } from '@fanfare/react/server';
import { version } from 'react';
import { renderToString } from 'react-dom/server';
import { client, page } from './page.js';
const snapshot = await prefetchFeed(client, { first: 2 });
console.log(JSON.stringify({ version, snapshot, html: renderToString(page(snapshot)) }));`;

const BROWSER_FILE = `
import { hydrateRoot } from 'react-dom/client';
import { client, item, page } from './page.js';
const faults = [];
const served = [...document.querySelectorAll('article')];
const root = hydrateRoot(document.getElementById('root'), page(SNAPSHOT), { onRecoverableError: (error) => faults.push(String(error)) });
const until = async (what, isSo) => {
  for (let frame = 0; frame < 3000; frame += 1) {
    if (isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  faults.push('It never came to this: ' + what);
};
const text = () => document.body.textContent;
const has = (one) => () => text().includes(one);
window.tried = (async () => {
  await until('live', () => client.watching > 0);
  if (served.length !== 2 || !served.every((one) => one.isConnected)) faults.push('What the server rendered was thrown away');
  served[0].focus();
  await new Promise((resolve) => setTimeout(resolve));
  await client.emit({ __typename: 'FeedItemAdded', item: item(3) });
  await until('one waits', has('1 new'));
  document.querySelector('[data-fanfare=new-items] button').click();
  await until('it is shown', has('Ada did item-3'));
  document.querySelector('article button').click();
  await until('a like that was refused is told', () => globalThis.refused === 'No');
  await until('and taken back', () => document.querySelector('article [aria-pressed=true]') === null);
  root.unmount();
  await until('nothing is watched', () => client.watching === 0);
  return faults;
})();`;

/** Every module of both. */
const TYPED = {
  '@fanfare/react': `import { useFeed, type FanfareItem } from '@fanfare/react';
import { Notifications } from '@fanfare/react/more';
import { prefetchFeed } from '@fanfare/react/server';
import { createTestClient } from '@fanfare/react/testing';
import '@fanfare/react/style.css';
const client = createTestClient({ feed: () => [] });
export const pages = [prefetchFeed(client, { first: 2 }).then(({ key }): string => key), Notifications.Bell];
export const firstOf = (): FanfareItem | undefined => useFeed({ first: 2 }).items[0];
// @ts-expect-error There are types.
export const wrong: number = useFeed({ first: '2' }).items;`,
  '@fanfare/client': `import { createFeedClient, type AddInteractionInput } from '@fanfare/client';
import { POSSIBLE_TYPES } from '@fanfare/client/cache';
import { operationsOf } from '@fanfare/client/operations';
const input: AddInteractionInput = { actionId: 'a', kind: 'COMMENT', text: 'Hi', mentions: ['ada'] };
export const all = [createFeedClient({ url: '/', token: 't' }).mutations.addInteraction({ input }), operationsOf(), POSSIBLE_TYPES];
// @ts-expect-error There are types.
createFeedClient({ url: 1, token: 't' });`,
};

/**
 * @param cwd an empty folder
 * @param options env: of the processes that are started
 * @returns faults, as lines
 */
export async function checkReact18(cwd, { env }) {
  const run = (command, args) => promisify(execFile)(command, args, { cwd, env, maxBuffer: 1e8 });
  await writeFile(join(cwd, 'package.json'), '{ "private": true, "type": "module" }');
  const [react] = await lowestPeers(JSON.parse(await readFile('packages/react/package.json', 'utf8')), run);
  await run('npm', ['install', react, react.replace('react@', 'react-dom@')]);
  const { faults } = await walkPage('packages/react/README.md', { cwd, env });
  await writeFile(join(cwd, 'page.js'), PAGE_FILE);
  await writeFile(join(cwd, 'server.js'), SERVER_FILE);
  const { stdout, stderr } = await run(process.execPath, ['server.js']).catch((error) => error);
  if (stderr !== '' || !stdout.includes('Ada did item-2'))
    return [...faults, `React 18 on the server: ${stdout}${stderr}`];
  const { version, html, snapshot } = JSON.parse(stdout);
  const entry = join(cwd, 'browser.js');
  await writeFile(
    entry,
    BROWSER_FILE.replace('SNAPSHOT', () => JSON.stringify(snapshot)),
  );
  faults.push(...(await inBrowser(entry, html)));
  await run('npm', ['install', '@types/react@18', '@types/react-dom@18']);
  for (const [name, code] of Object.entries(TYPED))
    faults.push(...(await oldestTypeFaults(cwd, { name, code, env })));
  if (!`react@${version}`.startsWith(react)) faults.push(`This was React ${version}`);
  if (faults.length === 0)
    console.log(`@fanfare/react works with React ${version}, on the server and in a browser`);
  return faults.map((fault) => `React 18: ${fault}`);
}
