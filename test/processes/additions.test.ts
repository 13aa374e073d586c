import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { compiler } from '../../scripts/compiler.js';
import type * as ReadConfig from '../../src/config/read-config.ts';
import type * as BroughtOf from '../../src/app/brought.ts';
import type * as HostConfigOf from '../../src/descriptors/host-config.ts';
import type * as RegistryOf from '../../src/descriptors/registry.ts';
import type * as Registry from '../../src/app/feed-models.ts';
import type * as Schema from '../../src/app/in-process.ts';
import { feedStoreConformance } from '../conformance/feed-store.conformance.ts';
import type { OpenFeedStore } from '../conformance/feed-store-tools.ts';
import { add, ADDITIONS, removeParts } from '../support/additions.ts';
import type * as App from '../support/app.ts';
import { ask, publish } from '../support/feed-api.ts';
import { watchFeed } from '../support/live-clients.ts';
import { copyProject, PROJECT } from '../support/project-copy.ts';
import type * as SpareDatabases from '../support/spare-databases.ts';

const run = promisify(execFile);

const PARTS = (await readdir(join(PROJECT, 'parts'))).flatMap((name) => [
  `parts/${name}/part.ts`,
  `parts/${name}/imports.json`,
  `parts/${name}/src`,
]);
/** The project with all additions in it, and without parts that a server can do without. */
const LEFT_OUT = [
  ...[
    'archive',
    'bookmarks',
    'consume',
    'elements',
    'erasure',
    'events',
    'explain',
    'federation',
    'import',
    'ingest',
    'mcp',
  ],
  ...[
    'mail',
    'notifications',
    'operators',
    'planner',
    'processes',
    'syndication',
    'tenants',
    'web-push',
    'webhooks',
  ],
];
const COPIED = [
  ...['package.json', 'tsconfig.json', 'tsconfig.build.json', '.oxfmtrc.json'],
  ...['src', ...PARTS, 'schema', 'docs/configuration.md', 'test/support'],
];
const copy = await copyProject(COPIED);
afterAll(() => copy[Symbol.asyncDispose]());
for (const addition of ADDITIONS) await add(addition, copy.path);
// As npm run settings does.
await run(process.execPath, ['--import', 'tsx', 'schema/settings.ts'], { cwd: copy.path });
await run(join(PROJECT, 'node_modules/.bin/oxfmt'), ['docs/configuration.md'], { cwd: copy.path });
await removeParts(LEFT_OUT, copy.path);

interface List {
  readonly edges: readonly { readonly node: { readonly action: { readonly id: string } } }[];
  readonly total: { readonly count: number };
}

/** A module of the copy. */
const load = <T>(path: string): Promise<T> => import(join(copy.path, path)) as Promise<T>;

const { createFeedStore, FEED_MODEL_NAMES } = await load<typeof Registry>('src/app/feed-models.ts');
const { borrowDatabase, openShared, returnDatabase } = await load<typeof SpareDatabases>(
  'test/support/spare-databases.ts',
);

const read = (folder: string, path: string) => readFile(join(folder, path), 'utf8').catch(() => null);

async function filesOf(folder: string): Promise<string[]> {
  const found = await Promise.all(
    [...COPIED, 'parts/greeting'].map(async (name) => {
      const inside = await readdir(join(folder, name), { recursive: true, withFileTypes: true }).catch(
        () => [],
      );
      const files = inside.filter((entry) => entry.isFile());
      if (name.includes('.')) return existsSync(join(folder, name)) ? [name] : [];
      return files.map(({ parentPath, name: file }) => join(parentPath, file));
    }),
  );
  return found.flat().map((path) => path.replace(`${folder}/`, ''));
}

describe('an addition', () => {
  test('touches exactly the places that the docs name', async () => {
    const table = await readFile(join(PROJECT, 'docs/where-to-change.md'), 'utf8');
    for (const { what, files, insertions, written } of ADDITIONS) {
      const row = table.split('\n').find((line) => line.startsWith(`| ${what} `)) ?? '';
      const named = [...row.matchAll(/`([^`]+)`/g)].flatMap(([, name = '']) => name.split(' && '));
      const touched = [...Object.keys(files), ...insertions.map(([path]) => path)];
      const unnamed = touched.filter(
        (path) => !named.some((name) => path.startsWith(name) || path.endsWith(`/${name}`)),
      );
      const commands = Object.keys(written).filter((command) => !named.includes(command));
      expect({ what, unnamed, commands }).toEqual({ what, unnamed: [], commands: [] });
    }
  });

  test('passes the type check, without parts of the server too', () => {
    const args = [compiler() ?? '', '-p', 'tsconfig.build.json', '--noEmit', '--incremental', 'false'];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: copy.path, encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });

  test('changes no other file; a command writes the table of settings', async () => {
    const changed: string[] = [];
    for (const path of await filesOf(copy.path))
      if ((await read(PROJECT, path)) !== (await read(copy.path, path))) changed.push(path);
    expect(changed.sort()).toEqual([
      'docs/configuration.md',
      'parts/feed-models/src/index.ts',
      'parts/feed-models/src/plain/model.ts',
      'parts/feed-models/src/plain/store.ts',
      'parts/greeting/imports.json',
      'parts/greeting/part.ts',
      'parts/greeting/src/host.ts',
      'parts/greeting/src/job.ts',
      'parts/greeting/src/metrics.ts',
      'parts/greeting/src/settings.ts',
      'src/app/features.ts',
      'src/app/parts.ts',
      'src/config/settings.ts',
      'src/descriptors/packs/packs.ts',
      'src/descriptors/packs/social/praised.ts',
      'src/domain/item-states.ts',
      'src/features/census/jobs/census.ts',
      'src/features/pinned/api.ts',
      'src/features/pinned/filter.ts',
      'src/features/pinned/store.ts',
      'src/features/pinned/use-cases.ts',
      'test/support/services.ts',
    ]);
  });
});

describe('an added feed model', () => {
  const open: OpenFeedStore = async ({ cap = 1_000 } = {}) => {
    const database = await openShared(await borrowDatabase());
    return {
      store: createFeedStore('plain', { db: database.db, cap, redis: [] }),
      [Symbol.asyncDispose]: () => returnDatabase(database),
    };
  };
  feedStoreConformance('plain', open);
});

test('stores an action of an added type, while the added job runs', async () => {
  const { startTestApp } = await load<typeof App>('test/support/app.ts');
  await using app = await startTestApp({ env: { FEED_MODEL: 'plain', POLL_INTERVAL: '20ms' } });
  const id = await publish(app, {
    descriptor: { praised: { userId: 'ann', reason: 'her patience' } },
    ...{ scope: 'RESTRICTED', recipients: ['bob'] },
  });
  await app.idle();
  const { feed } = await ask<{ feed: { edges: readonly { node: { action: object } }[] } }>(
    app,
    `{ feed { edges { node { action {
      id descriptor { __typename summary ... on PraisedDescriptor { userId reason } }
    } } } } }`,
    {},
    { sub: 'bob' },
  );
  const descriptor = {
    ...{ __typename: 'PraisedDescriptor', summary: 'actor praised ann' },
    ...{ userId: 'ann', reason: 'her patience' },
  };
  expect(feed.edges.map(({ node }) => node.action)).toEqual([{ id, descriptor }]);
  const { db } = await openShared(app.database);
  expect(await db.collection('plainEntries').countDocuments()).toBe(1);
  await expect.poll(() => app.log.some((line) => line.includes('Census taken'))).toBe(true);
  const { printedSchema } = await load<typeof Schema>('src/app/in-process.ts');
  const schema = await printedSchema();
  expect(schema).toContain('type PraisedDescriptor implements');
  expect(schema).not.toMatch(/bookmark/i);
  expect(
    await db
      .collection('bookmarks')
      .indexes()
      .catch(() => null),
  ).toBeNull();
  expect((await db.collection('itemPins').indexes()).map(({ name }) => name)).toContain('newest');
});

interface PagedList extends List {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly unread: { readonly count: number };
}

/** What a list of Bob's feed says of pinned items: the actions of all pages, and what it counts. */
interface PinnedLists {
  readonly pages: readonly string[];
  /** The last three. */
  readonly up: readonly string[];
  readonly groups: readonly string[];
  readonly total: number;
  readonly unread: number;
}

test('an added mark with its filter is found in pages, groups, counts and live events after each change', async () => {
  const { startTestApp } = await load<typeof App>('test/support/app.ts');
  await using app = await startTestApp({ env: { POLL_INTERVAL: '20ms' } });
  const asBob = <T>(document: string, variables = {}) => ask<T>(app, document, variables, { sub: 'bob' });
  const names = new Map<string, string>();
  const nameOf = (id: string): string => names.get(id) ?? id;
  const publishTo = async (name: string, more = {}): Promise<string> => {
    const id = await publish(app, { scope: 'RESTRICTED', recipients: ['bob'], ...more });
    names.set(id, name);
    await app.idle();
    return id;
  };
  const ofGroup = { descriptor: { praised: { userId: 'ann', reason: 'her patience' } } };
  const [a, b, c] = [await publishTo('a'), await publishTo('b', ofGroup), await publishTo('c')];
  const [d, e] = [await publishTo('d', ofGroup), await publishTo('e')];

  const node =
    '{ edges { node { action { id } } } pageInfo { hasNextPage endCursor } total { count } unread { count } }';
  const groups =
    'groups: feedGroups(filter: { pinned: true }) { edges { node { items { action { id } } } } total { count } }';
  async function lists(): Promise<PinnedLists> {
    const pages: string[] = [];
    let after: string | null = null;
    for (;;) {
      const { feed }: { feed: PagedList } = await asBob(
        `query ($after: String) { feed(filter: { pinned: true }, first: 2, after: $after) ${node} }`,
        { after },
      );
      pages.push(...feed.edges.map((edge) => nameOf(edge.node.action.id)));
      after = feed.pageInfo.endCursor;
      if (feed.pageInfo.hasNextPage) continue;
      const found = await asBob<{
        up: PagedList;
        groups: { edges: readonly { node: { items: readonly { action: { id: string } }[] } }[] };
      }>(`{ up: feed(filter: { pinned: true }, last: 3) ${node} ${groups} }`);
      const up = found.up.edges.map((edge) => nameOf(edge.node.action.id));
      const inGroups = found.groups.edges.flatMap(({ node: { items } }) =>
        items.map(({ action }) => nameOf(action.id)),
      );
      return { pages, up, groups: inGroups.sort(), total: feed.total.count, unread: feed.unread.count };
    }
  }

  await using watch = await watchFeed('WebSocket', app, 'bob', { filter: { pinned: true } });
  async function nextEvent(): Promise<string> {
    const event = await watch.next();
    if (event.__typename === 'FeedItemRemoved') return `-${nameOf(event.actionId)}`;
    return 'item' in event ? `+${nameOf(event.item.action.id)}` : event.__typename;
  }
  const pin = (actionId: string, isPinned: boolean) =>
    asBob('mutation ($id: ID!, $is: Boolean!) { pinItem(actionId: $id, isPinned: $is) { id } }', {
      id: actionId,
      is: isPinned,
    });
  const onItem = (mutation: string, id: string) =>
    asBob(`mutation ($id: ID!) { ${mutation}(actionId: $id) { item { id } } }`, { id });
  const steps: readonly (readonly [
    change: () => Promise<unknown>,
    pinned: string,
    unread: number,
    event: string,
  ])[] = [
    [() => pin(b, true), 'b', 1, '+b'],
    [() => pin(e, true), 'eb', 2, '+e'],
    [() => pin(d, true), 'edb', 3, '+d'],
    [() => pin(a, true), 'edba', 4, '+a'],
    [() => onItem('archiveFeedItem', d), 'eba', 3, '-d'],
    [() => onItem('unarchiveFeedItem', d), 'edba', 4, '+d'],
    [() => pin(e, false), 'dba', 3, '-e'],
    [
      async () => {
        await publishTo('f');
        await pin(c, true);
      },
      'dcba',
      4,
      '+c',
    ],
  ];
  for (const [change, pinned, unread, event] of steps) {
    await change();
    const expected = {
      pages: pinned.split(''),
      up: pinned.split('').slice(-3),
      groups: pinned.split('').sort(),
      total: pinned.length,
      unread,
    };
    // The process may say again what it has said.
    for (let n = 0; n < 2; n += 1) expect(await lists()).toEqual(expected);
    expect(await nextEvent()).toBe(event);
  }
});

test('an item in an added state is in no feed but in the list of the state, until its end', async () => {
  const { startTestApp } = await load<typeof App>('test/support/app.ts');
  await using app = await startTestApp({ env: { POLL_INTERVAL: '20ms' } });
  const publishTo = () => publish(app, { scope: 'RESTRICTED', recipients: ['bob'] });
  const [older, newer] = [await publishTo(), await publishTo()];
  await app.idle();
  const asBob = <T>(document: string, variables = {}) => ask<T>(app, document, variables, { sub: 'bob' });
  const laterAt = new Date(Date.now() + 3_600_000).toISOString();
  const change = 'readLater(actionId: $id, until: $at) { item { laterAt snoozedUntil isArchived } }';
  expect(
    await asBob(`mutation ($id: ID!, $at: DateTime!) { ${change} }`, { id: older, at: laterAt }),
  ).toEqual({ readLater: { item: { laterAt, snoozedUntil: null, isArchived: false } } });
  const listed = async () => {
    const list = '{ edges { node { action { id } } } total { count } }';
    const lists = await asBob<Record<string, List>>(
      `{ feed ${list} later: feed(filter: { later: true }) ${list} snoozed: feed(filter: { snoozed: true }) ${list} }`,
    );
    return Object.entries(lists).map(([name, { edges, total }]) => {
      expect(total.count).toBe(edges.length);
      return [name, edges.map(({ node }) => node.action.id)];
    });
  };
  expect(await listed()).toEqual([
    ['feed', [newer]],
    ['later', [older]],
    ['snoozed', []],
  ]);
  const { db } = await openShared(app.database);
  const until = new Date();
  await db
    .collection('itemMarks')
    .updateOne({ state: 'LATER' }, { $set: { until, lifting: { due: until } } });
  await expect.poll(listed).toEqual([
    ['feed', [older, newer]],
    ['later', []],
    ['snoozed', []],
  ]);
  await expect
    .poll(() => db.collection('itemMarks').findOne({ state: 'LATER' }))
    .toMatchObject({ isOver: true });
});

test('the settings and metrics of an added part are those of the server', async () => {
  const { startTestApp } = await load<typeof App>('test/support/app.ts');
  await using app = await startTestApp({ env: { GREETING: 'hello', GREETING_EVERY: '10ms' } });
  await expect.poll(() => app.figures()).toMatch(/^fanfare_greetings_total\{words="hello"\} \d+$/m);
  const { readConfig } = await load<typeof ReadConfig>('src/config/read-config.ts');
  const { BROUGHT } = await load<typeof BroughtOf>('src/app/brought.ts');
  const reading = (env: Record<string, string>) => () => readConfig(env, BROUGHT);
  expect(reading({ GREETING_EVERY: 'often' })).toThrow('GREETING_EVERY: got "often"');
  expect(reading({ GREETING: 'hello', FEED_CAP: '4' })).toThrow('GREETING: is longer than a feed');
  expect(await read(copy.path, 'docs/configuration.md')).toMatch(/`GREETING_EVERY` +\| 1m +\| How often/);
});

test("what an added part has of the host's configuration is checked with it, without those of deleted parts", async () => {
  const { HOST_PARTS } = await load<typeof BroughtOf>('src/app/brought.ts');
  const { checkHostConfig } = await load<typeof HostConfigOf>('src/descriptors/host-config.ts');
  const { ofHost } = await load<typeof RegistryOf>('src/descriptors/registry.ts');
  const language = { others: '{count} autres', manyOthers: 'beaucoup', formerMember: 'Ancien' };
  const checking = (config: object) => () => checkHostConfig(config, 'The test', HOST_PARTS);
  expect(checking({ mail: () => null })).toThrow('mail: Unknown setting');
  expect(checking({ greetings: { without: [1] } })).toThrow('greetings.without[0]: ');
  expect(checking({ locales: { fr: { ...language, greetings: { hello: 'Bonjour {who}' } } } })).toThrow(
    'locales.fr.greetings.hello: Unknown argument who',
  );
  const [greetings] = HOST_PARTS.filter(({ key }) => key === 'greetings');
  if (greetings === undefined) throw new Error('It is not declared');
  const { value, phrasesIn } = ofHost(greetings);
  expect([value, phrasesIn('de')['hello']?.({ name: 'Ann' })]).toEqual([undefined, 'Hallo Ann']);
});

test('an added setting is read, checked and documented', async () => {
  const { readConfig } = await load<typeof ReadConfig>('src/config/read-config.ts');
  const env = { MONGODB_URI: inject('mongodbUri') };
  const censusOf = (more: Record<string, string>) =>
    readConfig({ ...env, ...more }, { feedModels: FEED_MODEL_NAMES, settings: [] }).feeds;
  expect(censusOf({})).toMatchObject({ censusEveryMs: 60_000 });
  expect(censusOf({ CENSUS_EVERY: '5s' })).toMatchObject({ censusEveryMs: 5_000 });
  expect(() => censusOf({ CENSUS_EVERY: 'often' })).toThrow('CENSUS_EVERY: got "often"');
  expect(await read(copy.path, 'docs/configuration.md')).toMatch(/`CENSUS_EVERY` +\| 1m +\| How often/);
});
