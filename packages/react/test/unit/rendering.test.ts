import { buildSchema, parse, validate } from 'graphql';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { createElement as h, StrictMode, type ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import { build, type Rolldown } from 'vite';
import { expect, test, vi } from 'vitest';
import { buildTarget } from '../../../../scripts/oldest-browsers.js';
import * as most from '../../src/index.ts';
import { Feed, FanfareProvider, feedItemFields, Reactions, Summary, Time, useFeed } from '../../src/index.ts';
import { prefetchFeed, type FeedSnapshot } from '../../src/server.ts';
import * as more from '../../src/more.ts';
import { Reader } from '../../src/store/reader.ts';
import { createTestClient, testItem, testNotification } from '../../src/testing.ts';

const done = (): Promise<void> => Promise.resolve();
const ITEMS = [testItem('b', '2026-01-02T00:00:00.000Z'), testItem('a', '2026-01-01T00:00:00.000Z')];

function Page(): ReactNode {
  const feed = useFeed({ first: 10 });
  return h(Feed.Root, {
    feed,
    children: [
      h(Feed.NewItems, { key: 1 }),
      h(Feed.Skeleton, { key: 2 }),
      h(Feed.List, {
        key: 3,
        label: 'Feed',
        children: (item, index) =>
          h(Feed.Item, {
            ...{ key: item.id, item, index },
            children: [
              h(Summary, { key: 1, item }),
              h(Time, { key: 2, at: item.relevancy }),
              h(Reactions, { key: 3, actionId: item.action.id }),
            ],
          }),
      }),
    ],
  });
}

function List({ children }: { readonly children?: ReactNode }): ReactNode {
  return h(Feed.Root, { feed: useFeed({ first: 10 }), children });
}

test('on the server the first HTML has the items of the snapshot, and rendering makes no request', async () => {
  const client = createTestClient({ feed: () => ITEMS });
  const snapshot = await prefetchFeed(client, { first: 10 });
  const watch = vi.spyOn(client, 'watch');
  const page = (given: object): string =>
    renderToString(h(StrictMode, null, h(FanfareProvider, { client, ...given }, h(Page))));
  // As it comes with the HTML.
  const html = page({ snapshot: JSON.parse(JSON.stringify(snapshot)) as typeof snapshot });
  expect(html.match(/<article[^>]*data-item="(\w)"/g)).toHaveLength(2);
  expect(html).toContain('role="feed"');
  expect(html).not.toContain('skeleton');
  expect(page({})).toContain('data-fanfare="skeleton-row"');
  expect([client.queries.length, watch.mock.calls.length]).toEqual([1, 0]);
});

test.each(['hold', 'insert', 'off'] as const)(
  'a snapshot is used however the list is watched: %s',
  async (live) => {
    const client = createTestClient({ feed: () => ITEMS });
    const snapshot = await prefetchFeed(client, { first: 10 });
    const reader = new Reader({ client, snapshots: [snapshot] });
    expect(
      reader
        .feed({ first: 10, live })
        .getServerSnapshot()
        .items.map(({ id }) => id),
    ).toEqual(['b', 'a']);
    // What a page has follows from these.
    for (const other of [
      { first: 11 },
      { first: 10, order: 'TOP' },
      { first: 10, filter: { tags: ['x'] } },
    ] as const)
      expect(reader.feed({ ...other, live }).getServerSnapshot().status).toBe('loading');
  },
);

test('sentences are marked with their language; the words of others, and what may be in two languages, are not', async () => {
  const notifications = [
    testNotification('x', '2026-01-02T00:00:00.000Z'),
    testNotification('y', '2026-01-01T00:00:00.000Z', { interaction: { id: 'c', text: 'Schön!' } }),
  ];
  const answered = { language: undefined as string | undefined };
  const client = Object.assign(createTestClient({ feed: () => ITEMS }), answered);
  const marksIn = (snapshot: FeedSnapshot): (string | undefined)[] => {
    const parts = notifications.map((notification, index) =>
      h(more.Notifications.Item, { key: index, notification, index, notifications: { markRead: done } }),
    );
    const list = h(List, null, parts);
    const html = renderToString(h(FanfareProvider, { client, snapshot }, h(Page), list));
    return [...html.matchAll(/<p [^>]*?data-fanfare="(?:summary|excerpt)"(?: lang="(\w+)")? dir/g)].map(
      ([, lang]) => lang,
    );
  };
  expect(marksIn(await prefetchFeed(client, { first: 10 }))).toEqual(Array(6).fill(undefined));
  client.language = 'de';
  const snapshot = await prefetchFeed(client, { first: 10 });
  expect(marksIn(snapshot)).toEqual(['de', 'de', 'de', 'de', 'de', undefined]);
  // It goes on in a browser that asks in another language.
  const reader = new Reader({ client, snapshots: [snapshot] });
  expect(reader.language()).toBe('de');
  client.language = 'en';
  expect(reader.language()).toBeUndefined();
});

test.each([
  ['COMMENT', 'comments'],
  ['REPLY', 'comments'],
  ['LIKE', 'like'],
  ['REACTION', 'like'],
  ['RESHARE', 'reshare'],
  ['OWN', 'bell'],
] as const)(
  'a notification of the kind %s has its icon at the avatar, which is not read out',
  (kind, icon) => {
    const notification = testNotification('x', '2026-01-02T00:00:00.000Z', { kind });
    const item = h(more.Notifications.Item, { notification, index: 0, notifications: { markRead: done } });
    const client = createTestClient({ feed: () => ITEMS });
    const html = renderToString(h(FanfareProvider, { client }, h(List, null, item)));
    const [, hidden = ''] = /data-fanfare="avatars" aria-hidden="true">(.*?)<div/.exec(html) ?? [];
    expect([...hidden.matchAll(/data-icon="(\w+)"/g)].map(([, one]) => one)).toEqual([icon]);
  },
);

test('the virtual list in docs/react-more.md is the tested one', () => {
  const text = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
  const code = text('../fixtures/pages/virtual-feed.tsx');
  expect(text('../../../../docs/react-more.md')).toContain('```tsx\n' + code + '```\n');
});

test('the selections of the hooks match the schema', () => {
  const path = new URL('../../../../schema/schema.graphql', import.meta.url);
  const schema = buildSchema(readFileSync(path, 'utf8'));
  expect(validate(schema, parse(`{ feed { edges { node { ${feedItemFields} } } } }`))).toEqual([]);
});

/** A page that uses all of it: unlike a library it has no list of names that others import. */
const using = (names: readonly string[], rest: readonly string[] = []): string =>
  `import { ${names.join(', ')} } from '@fanfare/react'; import { ${rest.join(', ')} } from '@fanfare/react/more';
   globalThis.page = [${[...names, ...rest].join(', ')}];`;
const FEED = using(['FanfareProvider', 'Feed', 'Summary', 'Time', 'useFeed']);
const MOST = using(Object.keys(most));
/** A page in another language loads its words beside. */
const ALL = using(
  Object.keys(most),
  Object.keys(more).filter((name) => name !== 'german'),
);
const PAGE = readFileSync(new URL('../../../../docs/react.md', import.meta.url), 'utf8');
/** What the page promises of both packages together, in bytes. */
const PROMISED = Number(/under ([\d,]+) bytes/.exec(PAGE)?.[1]?.replace(',', ''));

test.each([
  ['a feed alone, without the client', FEED, { client: false, least: 8_000, most: 13_300 }],
  ['a feed alone', FEED, { client: true, least: 10_000, most: 19_800 }],
  ['what most pages need', MOST, { client: true, least: 12_000, most: PROMISED }],
  ['all hooks and parts', ALL, { client: true, least: 15_000, most: 37_500 }],
  ['all hooks and parts, without the client', ALL, { client: false, least: 12_000, most: 31_000 }],
])('%s, as a browser loads it without React', async (_what, entry, { client, least, most }) => {
  const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
  const output = await build({
    configFile: false,
    logLevel: 'error',
    // Tests are no production: the names of source files would go in.
    oxc: { jsx: { runtime: 'automatic', development: false } },
    resolve: {
      alias: [
        ...(client ? [{ find: '@fanfare/client', replacement: source('../../../client/src/index.ts') }] : []),
        { find: '@fanfare/react/more', replacement: source('../../src/more.ts') },
        { find: '@fanfare/react', replacement: source('../../src/index.ts') },
      ],
    },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? id : null),
        load: (id) => (id === 'entry' ? entry : null),
      },
    ],
    build: {
      write: false,
      target: buildTarget(),
      // Not as a library, of which bundlers keep the spaces.
      rolldownOptions: {
        input: 'entry',
        preserveEntrySignatures: 'strict',
        external: [/^react(?:$|\/)/, ...(client ? [] : ['@fanfare/client'])],
      },
    },
  });
  const { output: parts } = output as Rolldown.RolldownOutput;
  const code = parts.map((part) => (part.type === 'chunk' ? part.code : '')).join('\n');
  const size = gzipSync(code).length;
  // A bundle that has lost its parts would be small too.
  expect(size).toBeGreaterThan(least);
  expect(size).toBeLessThan(most);
});
