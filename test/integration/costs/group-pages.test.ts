import { readFileSync } from 'node:fs';
import { Kind, parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { commandsOf, withoutClockReads } from '../../support/commands.ts';
import { upsert } from '../../support/feed-api.ts';

const NUMBERS = Array.from({ length: 25 }, (_, n) => String(n));
let app: TestApp;
beforeAll(async () => {
  // What a process holds would depend on what was read before.
  app = await startTestApp({ monitorCommands: true, worker: false, env: { READ_CACHE: '0KiB' } });
  await upsert(app, {
    refs: NUMBERS.map((n) => ({ id: `site-${n}`, type: 'site', label: n })),
    members: NUMBERS.map((n) => ({ memberId: `actor-${n}`, name: n })),
    pairs: NUMBERS.map((n) => ({ followerId: 'reader', refId: `site-${n}` })),
  });
  // Three of each group, by three members: the page reads to the end of the feed. What lies below a page is counted in
  // feed-groups.test.ts.
  for (const shift of [0, 1, 2])
    await app.services.publishActions(
      app.identity('service', 'service'),
      NUMBERS.map((n) => ({
        actorId: `actor-${String((Number(n) + shift) % 25)}`,
        conducted: new Date(Date.UTC(2026, 0, 1)),
        scope: 'PUBLIC',
        refs: [{ id: `site-${n}`, type: 'site', label: n }],
        descriptor: { custom: { verb: 'posted', objectType: 'site', objectId: `site-${n}` } },
      })),
    );
  await using worker = await startTestApp({ api: false, database: app.database });
  await worker.idle();
});
afterAll(async () => app[Symbol.asyncDispose]());

/** What a page of 25 groups asks for beyond what it takes without the fields. */
async function added(group: string, connection = ''): Promise<string[]> {
  const read = async (fields: string, beside: string): Promise<string[]> => {
    const document = `{ feedGroups(first: 25) { edges { node { id ${fields} } } ${beside} } }`;
    const commands = await commandsOf(app.app.database, async () => {
      const { data, errors } = await app.query<{ feedGroups: { edges: unknown[] } }>(document);
      expect(errors).toEqual([]);
      expect(data?.feedGroups.edges).toHaveLength(25);
    });
    return withoutClockReads(commands)
      .filter(({ name }) => name === 'find' || name === 'aggregate')
      .map(({ name, collection }) => `${name} ${collection}`);
  };
  // The first read after a while notes that the reader is there.
  await read('', '');
  const all = await read(group, connection);
  // With a count the page is read with more entries, so it can take less.
  for (const command of await read('', '')) if (all.includes(command)) all.splice(all.indexOf(command), 1);
  return all.sort();
}

const OF_GROUPS: readonly [string, string[]][] = [
  ['relevancy isUnread', []],
  ['count { count isExact } actorCount { count isExact }', []],
  ['actors(first: 3) { memberId }', []],
  // Names, and details of the members.
  ['actors(first: 3) { name imageUrl }', ['find members', 'find members']],
  ['items(first: 3) { id relevancy reasons isUnread groupId isArchived snoozedUntil }', []],
  [
    'items(first: 3) { resharedBy { memberId } action { refs { label } actor { name } viewer { hasLiked } descriptor { summary } } }',
    ['aggregate interactions', 'find members', 'find refs'],
  ],
  [
    'summary summaryParts { text member { name } ref { label } }',
    ['find members', 'find members', 'find refs'],
  ],
];
const OF_CONNECTION: readonly [string, string[]][] = [
  ['total { count isExact }', []],
  ['unread { count isExact } state pageInfo { hasNextPage }', []],
];

test.each(OF_GROUPS)('a page of 25 groups with %s takes %j more', async (fields, expected) => {
  expect(await added(fields)).toEqual(expected);
});

test.each(OF_CONNECTION)(
  'a page of 25 groups with %s in addition takes %j more',
  async (fields, expected) => {
    expect(await added('', fields)).toEqual(expected);
  },
);

test('a page of 25 groups with all fields reads only interactions and names in addition', async () => {
  const fields = [OF_GROUPS, OF_CONNECTION].map((list) => list.map(([some]) => some).join(' '));
  const [group = '', connection = ''] = fields;
  const all = await added(group, connection);
  // The read of the page has all that is in the groups. So much is made in several turns of the event loop, whose reads
  // come together or apart.
  expect([...new Set(all)].sort()).toEqual(['aggregate interactions', 'find members', 'find refs']);
});

test('the cost of a page of 25 groups is tested for every field of a group and of the list', () => {
  const { definitions } = parse(
    readFileSync(new URL('../../../schema/schema.graphql', import.meta.url), 'utf8'),
  );
  const topLevel = (selections: readonly (readonly [string, string[]])[]): string[] => {
    const [operation] = parse(`{ id edges ${selections.map(([fields]) => fields).join(' ')} }`).definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('No operation');
    return operation.selectionSet.selections.flatMap((one) =>
      one.kind === Kind.FIELD ? [one.name.value] : [],
    );
  };
  for (const [name, counted] of [
    ['FeedGroup', topLevel(OF_GROUPS)],
    ['FeedGroupConnection', topLevel(OF_CONNECTION)],
  ] as const) {
    const type = definitions.find(
      (one) => one.kind === Kind.OBJECT_TYPE_DEFINITION && one.name.value === name,
    );
    if (type?.kind !== Kind.OBJECT_TYPE_DEFINITION) throw new Error(`There is no ${name}`);
    const fields = (type.fields ?? []).map((field) => field.name.value);
    expect(fields.filter((field) => !counted.includes(field))).toEqual([]);
  }
});
