import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BROUGHT, METRICS } from '../../src/app/brought.ts';
import type { Part } from '../../src/app/part.ts';
import * as parts from '../../src/app/parts.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { PROJECT } from '../support/project-copy.ts';

const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');

const LIST = 'src/app/parts.ts';
const NAMES = readdirSync(join(PROJECT, 'parts'));
/** All of the server but its parts and their list. */
const SOURCES = readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' })
  .map((file) => `src/${file}`)
  .filter((file) => file.endsWith('.ts') && file !== LIST)
  .map((path) => ({ path, text: read(path) }));

/** Where a pattern is found, with what is found. */
function foundIn(files: typeof SOURCES, pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) => {
    const found = new Set([...text.matchAll(pattern)].map(([match]) => match));
    return [...found].map((match) => `${path}: ${match}`);
  });
}

const anyOf = (names: readonly string[]): RegExp => new RegExp(String.raw`\b(?:${names.join('|')})\b`, 'g');

/** Parts whose name is the name of something else in the core, which a word cannot tell apart. */
const WORDS_OF_THE_CORE: Readonly<Record<string, string>> = {
  archive: 'a state of an item',
  consume: 'what is read from a stream of the process',
  demo: 'the user of the first token, and the page that acts as others',
  elements: 'the entries of a list',
  erasure: 'the record of an erasure, by which sessions end',
  events: 'live events, and events for hosts as they are recorded',
  explain: 'says why',
  'feed-models': 'how feeds are stored, of which the core has two',
  import: 'the statement',
  notifications: 'what a member may want to be notified of, as descriptors and hosts say it',
  operators: 'those of a comparison, and people',
  planner: 'that of the database',
  processes: 'those that run on the database',
  tenants: 'ids with a tenant, and quotas',
};

/** What stands outside of a part though it has its name in it, and why. */
const EXCEPTIONS: Readonly<Record<string, readonly [pattern: RegExp, reason: string]>> = {
  mail: [
    /^src\/(?:core\/(?:contact|shapes)|domain\/notification|features\/directory\/(?:api\/member|store\/members)|storage\/documents\/member-document)\.ts: /,
    'members have an address, as the contract of the API says, and a channel of that name',
  ],
  webhooks: [
    /^src\/(?:domain\/(?:signature|host-event)|features\/events\/store\/event-outbox|app\/hooks|descriptors\/host-(?:hooks|views))\.ts: /,
    'the standard of signatures is called so, which hooks have too; and an event of the log is one for a test of receivers',
  ],
};

test('the list of parts has a line for each folder, and each folder says what it may import', () => {
  const lines = [...read(LIST).matchAll(/'\.\.\/\.\.\/parts\/([^/]+)\/part\.ts'/g)].map(([, name]) => name);
  expect(lines).toEqual(NAMES.toSorted());
  for (const name of NAMES) expect(JSON.parse(read(`parts/${name}/imports.json`))).toBeTypeOf('object');
});

test('no settings, metrics and collections of parts are known outside of them', async () => {
  const ofParts: readonly Part[] = Object.values(parts);
  const snapshotOf = async (declared: typeof METRICS) =>
    (await createMetrics({ withProcess: false, parts: declared }).snapshot()).map(({ name }) => name);
  const ofCore = new Set(await snapshotOf([]));
  const names = [
    ...BROUGHT.settings.flatMap(({ settings }) => Object.keys(settings)),
    ...(await snapshotOf(METRICS)).filter((name) => !ofCore.has(name)),
    ...ofParts.flatMap(({ collections = [] }) => collections.map(({ name }) => name)),
  ];
  expect(names.length).toBeGreaterThan(25);
  expect(foundIn(SOURCES, anyOf(names))).toEqual([]);
});

test('no room names a part', () => {
  for (const name of NAMES) {
    const stem = name.replace(/s$/, '');
    const word = new RegExp(
      [
        `(?<![A-Za-z])${stem.replaceAll('-', '[- ]')}`,
        stem.replaceAll(/(?:^|-)(\w)/g, (_, first: string) => first.toUpperCase()),
        stem.toUpperCase().replaceAll('-', '_'),
      ].join('|'),
      'g',
    );
    const found = foundIn(SOURCES, word);
    if (name in WORDS_OF_THE_CORE) continue;
    const [isExcepted] = EXCEPTIONS[name] ?? [/^$/];
    expect([name, found.filter((place) => !isExcepted.test(place))]).toEqual([name, []]);
  }
});

test('an exception is one: it names a part, and something is found', () => {
  expect(
    Object.keys({ ...WORDS_OF_THE_CORE, ...EXCEPTIONS }).filter((name) => !NAMES.includes(name)),
  ).toEqual([]);
});

/** What reads a list of parts lists none itself. */
const CONFIGURED = [
  ...['.dependency-cruiser.cjs', '.oxlintrc.json', 'eslint.config.js', 'knip.json', 'vitest.config.ts'],
  ...['tsconfig.json', 'tsconfig.build.json', 'scripts/build.js', 'scripts/house.js'],
];

test('no tool has a list of parts', () => {
  const files = CONFIGURED.map((path) => ({ path, text: read(path) }));
  const path = new RegExp(String.raw`parts/(?:\{[^}]*\b)?(?:${NAMES.join('|')})\b`, 'g');
  expect(foundIn([...files, ...SOURCES], path)).toEqual([]);
});
