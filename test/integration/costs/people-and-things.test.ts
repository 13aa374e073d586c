import { readFileSync } from 'node:fs';
import { Kind, parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { commandsOf, stagesOf } from '../../support/commands.ts';
import { upsert } from '../../support/feed-api.ts';
import { openParts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

let app: TestApp;
beforeAll(async () => {
  // What a process holds would depend on what was read before.
  app = await startTestApp({ monitorCommands: true, worker: false, env: { READ_CACHE: '0KiB' } });
  const numbers = Array.from({ length: 25 }, (_, n) => String(n));
  await upsert(app, {
    refs: numbers.map((n) => ({ id: `site-${n}`, type: 'site', label: n })),
    members: numbers.map((n) => ({ memberId: `actor-${n}`, name: n })),
    pairs: numbers.flatMap((n) => [
      { followerId: 'reader', refId: `site-${n}` },
      { followerId: 'bob', refId: `site-${n}` },
      { followerId: 'reader', refId: 'bob' },
    ]),
  });
  const publishAll = (conducted: Date) =>
    app.services.publishActions(
      app.identity('service', 'service'),
      numbers.map((n) => ({
        actorId: `actor-${n}`,
        conducted,
        scope: 'PUBLIC',
        refs: [{ id: `site-${n}`, type: 'site', label: n }],
        descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: n } },
      })),
    );
  // What is pinned is too old to stand on the page itself.
  for (const { action } of await publishAll(new Date(Date.UTC(2020, 0, 1))))
    if (action !== null)
      await app.services.pinAction(app.session('root', 'admin'), action.refs[0]?.id ?? '', action.id);
  for (const { action } of await publishAll(new Date()))
    if (action !== null)
      await app.services.addInteraction(app.session('bob'), { actionId: action.id, kind: 'RESHARE' });
  await using worker = await startTestApp({ api: false, database: app.database });
  await worker.idle();
});
afterAll(async () => app[Symbol.asyncDispose]());

/**
 * The collections that a page of 25 items asks for beyond those that it takes without the fields.
 * @param fields of the action, or of the item.
 */
async function added(
  fields: { readonly action: string } | { readonly item: string },
  roles: readonly ('user' | 'admin')[] = ['admin'],
): Promise<string[]> {
  const read = async (selection: Partial<Record<'action' | 'item', string>>): Promise<string[]> => {
    const { action = '', item = '' } = selection;
    const document = `{ feed(first: 25) { edges { node { id ${item} action { id ${action} } } } } }`;
    const commands = await commandsOf(app.app.database, async () => {
      const { data, errors } = await app.query<{ feed: { edges: unknown[] } }>(
        document,
        {},
        {
          sub: 'reader',
          roles,
        },
      );
      expect(errors).toEqual([]);
      expect(data?.feed.edges).toHaveLength(25);
    });
    return (
      commands
        .filter(({ name }) => name === 'find' || name === 'aggregate')
        // Which refs are pulled is looked up by the clock, whatever is asked.
        .filter(({ command }) => !JSON.stringify(command['filter'] ?? {}).includes('isPulled'))
        .map(({ name, collection }) => `${name} ${collection}`)
    );
  };
  // The first read after a while notes that the reader is there.
  await read({});
  const all = await read(fields);
  for (const command of await read({})) {
    expect(all).toContain(command);
    all.splice(all.indexOf(command), 1);
  }
  return all.sort();
}

/** Fields of an action, and what a page asks for beside. */
const OF_ACTIONS: readonly [string, string[]][] = [
  ['refs { id refId }', []],
  ['refs { type }', ['find refs']],
  ['refs { imageUrl url data }', ['find refs']],
  ['refs { label imageUrl followerCount }', ['find refs', 'find refs']],
  ['refs { isFollowed follow { since types isAssigned listIds } }', ['find follows']],
  ['refs { followers(first: 3) { edges { node { memberId } } } }', ['aggregate follows']],
  ['refs { followers(first: 3) { edges { node { name } } } }', ['aggregate follows', 'find members']],
  ['refs { pinned { id } }', ['find actions', 'find refs']],
  ['refs { imageUrl data pinned { id actor { memberId } } }', ['find actions', 'find refs']],
  ['actor { memberId isMuted isBlocked }', []],
  ['actor { imageUrl url data }', ['find members']],
  ['actor { name followerCount isFollowed }', ['find follows', 'find members', 'find refs']],
  [
    'version editedAt expiresAt publishAt isHidden scope engagement { comments likes reshares lastInteraction reactions { reaction count } }',
    [],
  ],
  ['viewer { hasLiked hasReshared hasCommented reactions canDelete canEdit }', ['aggregate interactions']],
  ['viewer { isBookmarked }', ['find bookmarks']],
  // Of all of the page at once.
  ['viewer { commentsInReview { text } }', ['find reports']],
  ['fanOut { state lane } conducted commentsVersion', []],
  ['refs { rename { isDone } }', ['find refs']],
  ['actor { teamId departmentId supervisorId }', ['find members']],
  [
    `interactions(kinds: [COMMENT, RESHARE], parentId: null, first: 3) {
      edges { cursor node { kind at editedAt reaction parentId data state actor { name imageUrl } action { id } } }
      pageInfo { hasNextPage }
    }`,
    ['aggregate actions', 'find members', 'find members'],
  ],
  ['interactions(first: 3) { edges { node { id text actor { memberId } } } }', ['aggregate actions']],
  ['descriptor { type tags summary }', ['find members', 'find refs']],
  ['content { body rating { value max } media { url alt kind width height blurhash } }', []],
  // Names for the sentence, then the details of the members it names.
  [
    'descriptor { summaryParts { text member { name imageUrl } ref { label imageUrl } } }',
    ['find members', 'find members', 'find refs'],
  ],
];

/** The same of an item. */
const OF_ITEMS: readonly [string, string[]][] = [
  ['groupId isArchived snoozedUntil isUnread relevancy reasons', []],
  ['resharedBy { memberId }', ['find follows']],
  ['resharedBy { name isMuted }', ['find follows', 'find members']],
];

test.each(OF_ACTIONS)(
  'a page of 25 actions with %s takes one more query of each: %j',
  async (fields, expected) => {
    expect(await added({ action: fields })).toEqual(expected);
  },
);

test.each(OF_ITEMS)(
  'a page of 25 items with %s takes one more query of each: %j',
  async (fields, expected) => {
    expect(await added({ item: fields })).toEqual(expected);
  },
);

test('the cost of a page of 25 is tested for every field of its entries', () => {
  const { definitions } = parse(
    readFileSync(new URL('../../../schema/schema.graphql', import.meta.url), 'utf8'),
  );
  const counted = [...OF_ACTIONS, ...OF_ITEMS, ['id action cursor node', []] as const].flatMap(
    ([fields]) => fields.match(/\w+/gu) ?? [],
  );
  const shown = new Set([
    'Action',
    'NewsfeedItem',
    'Ref',
    'Member',
    'Follow',
    'Interaction',
    'ActionViewer',
    'Engagement',
    'SummaryPart',
  ]);
  const missing = definitions.flatMap((definition) =>
    definition.kind === Kind.OBJECT_TYPE_DEFINITION && shown.delete(definition.name.value)
      ? (definition.fields ?? [])
          .filter(({ name }) => !counted.includes(name.value))
          .map(({ name }) => `${definition.name.value}.${name.value}`)
      : [],
  );
  expect([missing, [...shown]]).toEqual([[], []]);
});

test('one page of followers is one query, by the index of followers', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const many = Array.from({ length: 3_000 }, (_, n) => ({
    followerId: `f${String(n)}`,
    refId: `r${String(n % 3)}`,
  }));
  for (let from = 0; from < many.length; from += 1_000)
    await parts.services.followMany(parts.service, many.slice(from, from + 1_000));
  const slice = { from: { userId: 'f5' }, isUp: false, limit: 26 };
  const commands = await commandsOf(parts.database, () =>
    parts.repositories.followerPages.read([{ ...slice, refId: 'r1' }]),
  );
  expect(commands.map(({ name, collection }) => `${name} ${collection}`)).toEqual(['aggregate follows']);
  for (const command of commands)
    await expect
      .poll(() => stagesOf(parts.database, command), { timeout: PATIENCE_MS, interval: 250 })
      .toSatisfy(
        (stages: Awaited<ReturnType<typeof stagesOf>>) =>
          stages.some(({ indexName }) => indexName === 'by_ref') &&
          stages.every(({ stage }) => stage !== 'COLLSCAN'),
      );
  expect(
    await parts.repositories.followerPages.read(
      ['r0', 'r9', 'r1'].map((refId) => ({ ...slice, refId, limit: 2 })),
    ),
  ).toEqual([['f501', 'f504'], [], ['f502', 'f505']].map((ids) => ids));
});

test.each([
  [true, ['find refs', 'update follows', 'find follows', 'update refs', 'delete follows', 'update follows']],
  [
    false,
    [
      'update feeds',
      'update readerStamps',
      'find refs',
      'update follows',
      'find follows',
      'update feeds',
      'update refs',
      'delete follows',
      'update follows',
    ],
  ],
] as const)(
  'ends a hundred follows with as many commands as one, each by its index (keep history: %s)',
  async (keepHistory, expected) => {
    await using parts = await openParts({ monitorCommands: true });
    const pairs = Array.from({ length: 1_000 }, (_, n) => ({
      followerId: `f${String(n)}`,
      refId: `r${String(n % 20)}`,
    }));
    await parts.services.followMany(parts.service, pairs);
    const name = ({ name: command, collection }: { name: string; collection: string }): string =>
      `${command} ${collection}`;
    const some = pairs.slice(0, 100);
    const commands = await commandsOf(parts.database, () =>
      parts.services.unfollowMany(parts.service, some, keepHistory),
    );
    expect(commands.map(name).sort()).toEqual([...expected].sort());
    const none = await commandsOf(parts.database, () =>
      parts.services.unfollowMany(parts.service, [{ followerId: 'nobody', refId: 'r1' }], keepHistory),
    );
    expect(none.map(name).sort()).toEqual(
      [
        ...(keepHistory ? [] : ['update feeds', 'update readerStamps']),
        'find refs',
        'update follows',
        'find follows',
      ].sort(),
    );
    const look = commands.find((command) => name(command) === 'find follows');
    if (look === undefined) throw new Error('Nobody looked what has ended');
    await expect
      .poll(() => stagesOf(parts.database, look), { timeout: PATIENCE_MS, interval: 250 })
      .toSatisfy((stages: Awaited<ReturnType<typeof stagesOf>>) =>
        stages.every(({ stage }) => stage !== 'COLLSCAN'),
      );
  },
);

test('pins, lists erasures and reads metrics with few commands, each by its index', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { action } = await parts.publish({ refs: [{ id: 'site', type: 'site', label: 'Site' }] });
  const name = ({ name: command, collection }: { name: string; collection: string }): string =>
    `${command} ${collection}`;
  const namesOf = async (work: () => Promise<unknown>): Promise<string[]> =>
    (await commandsOf(parts.database, work)).map(name);
  const admin = () => parts.session('root', 'admin');
  expect(await namesOf(() => parts.services.readRef(admin(), 'site'))).toEqual([
    'find refs',
    'find members',
    'aggregate actions',
  ]);
  await parts.services.upsertRefs(parts.service, [{ id: 'site', type: 'site', label: 'Site' }]);
  expect(await namesOf(() => parts.services.pinAction(admin(), 'site', action.id))).toEqual([
    'find actions',
    'findAndModify refs',
    'find refs',
  ]);
  expect(await namesOf(() => parts.services.unpinAction(admin(), 'site', action.id))).toEqual([
    'update refs',
    'find refs',
  ]);
  const { erasures } = parts.database.collections;
  const many = Array.from({ length: 5_000 }, (_, n) => n);
  await erasures.insertMany(
    many.map((n) => ({
      _id: n.toString(16).padStart(64, '0'),
      ...{ state: 'DONE' as const, by: 'root', startedAt: new Date(n), finishedAt: new Date(n) },
      ...{ step: null, changed: 0, attempts: 0 },
    })),
  );
  const after = { startedAt: new Date(4_000), key: (4_000).toString(16).padStart(64, '0') };
  const commands = await commandsOf(parts.database, async () => {
    await parts.repositories.erasures.list('ann', { from: null, isUp: false, limit: 26 });
    await parts.repositories.erasures.list('ann', { from: after, isUp: false, limit: 26 });
  });
  expect(commands.map(name)).toEqual(['find erasures', 'find erasures']);
  for (const command of commands)
    await expect
      .poll(() => stagesOf(parts.database, command), { timeout: PATIENCE_MS, interval: 250 })
      .toSatisfy(
        (stages: Awaited<ReturnType<typeof stagesOf>>) =>
          stages.some(({ indexName }) => indexName === 'newest') &&
          stages.every(({ stage }) => stage !== 'COLLSCAN' && stage !== 'SORT'),
      );
  const work = parts.services.readWork(parts.admin);
  expect(await namesOf(() => work.lanes())).toEqual(['aggregate actions']);
  expect(await namesOf(() => work.failedFanOuts())).toEqual(['aggregate actions']);
});
