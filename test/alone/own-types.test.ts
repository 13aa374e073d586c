import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseActionId } from '../../src/graphql/global-id.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, feedOf, publish, upsert } from '../support/feed-api.ts';
import { useOwnTypes } from '../support/own-types.ts';
import { runCli } from '../support/run-cli.ts';
import { uniqueName } from '../support/unique-name.ts';

const service = { sub: 'service', roles: ['service'] } as const;
const admin = { sub: 'admin', roles: ['admin'] } as const;

let app: TestApp;
beforeAll(async () => {
  useOwnTypes();
  app = await startTestApp({ env: { POLL_INTERVAL: '100ms' } });
});
afterAll(() => app[Symbol.asyncDispose]());

const FIELDS = `id refs { refId type label } descriptor {
  __typename type summary german: summary(locale: "de") summaryParts { text member { memberId } ref { refId } }
  ... on BuildFailedDescriptor {
    repoId repoName authorId authorName branch minutes load stage isNight startedAt pipelineId log
    shots { url alt kind width height blurhash }
  }
  ... on UnknownDescriptor { data }
} content { body rating { value max } media { url alt kind width height blurhash } }`;

interface Shown {
  readonly id: string;
  readonly refs: readonly object[];
  readonly descriptor: Readonly<Record<string, unknown>>;
  readonly content: object;
}

async function shown(id: string): Promise<Shown> {
  const { action } = await ask<{ action: Shown }>(
    app,
    `query ($id: ID!) { action(id: $id) { ${FIELDS} } }`,
    { id },
    service,
  );
  return action;
}

async function slice(refId: string): Promise<string[]> {
  const query = 'query ($refId: String!) { slice(refId: $refId) { edges { node { id } } } }';
  const page = await ask<{ slice: { edges: readonly { node: { id: string } }[] } }>(app, query, { refId });
  return page.slice.edges.map(({ node }) => node.id);
}

/** A build of a repository of this test alone, broken by Ann. */
function build(tag: string, more: object = {}): Record<string, unknown> {
  return {
    ...{ repoId: `web${tag}`, repoName: 'Web', authorId: `ann${tag}`, authorName: 'Ann', branch: 'main' },
    ...more,
  };
}

function broken(tag: string, more: object = {}): Promise<string> {
  return publish(app, { scope: 'PUBLIC', descriptor: { buildFailed: build(tag, more) } });
}

describe('an action of a declared type', () => {
  test('is served with its fields, and found under its refs', async () => {
    const tag = uniqueName('');
    await upsert(app, { pairs: [{ followerId: `eve${tag}`, refId: `web${tag}` }] });
    const all = {
      ...{ minutes: 3, load: 0.5, stage: 'TEST', isNight: true, startedAt: '2024-01-31T12:00:00.000Z' },
      ...{ pipelineId: 'p1', log: { lines: ['a'] } },
    };
    const id = await broken(tag, all);
    const { refs, descriptor } = await shown(id);
    expect(refs).toEqual([
      { refId: `web${tag}`, type: 'repo', label: 'Web' },
      { refId: `ann${tag}`, type: 'person', label: 'Ann' },
    ]);
    expect(descriptor).toMatchObject({
      ...{ __typename: 'BuildFailedDescriptor', type: 'BuildFailed', ...build(tag), ...all },
      summary: 'Ann broke main of Web',
      german: 'Ann hat main von Web zerbrochen',
    });
    await app.idle();
    expect((await feedOf(app, `eve${tag}`)).map(({ action }) => action.id)).toEqual([id]);
    expect(await slice(`web${tag}`)).toEqual([id]);
    expect(await slice(`ann${tag}`)).toEqual([id]);
    const bare = await broken(tag);
    expect((await shown(bare)).descriptor).toMatchObject({
      minutes: null,
      stage: null,
      startedAt: null,
      log: {},
    });
  });

  test('is shown with its body, rating and pictures, whatever the type calls them', async () => {
    const picture = { url: 'https://pictures.example/1.jpg', alt: 'A red light', width: 4, height: 3 };
    const file = { url: 'https://pictures.example/log.txt', kind: 'FILE' };
    const blurhash = 'LEHV6nWB2yk8pyo0adR*.7kCMdnj';
    const given = { note: 'Again.', severity: 2, shots: [{ ...picture, blurhash }, file] };
    const { content, descriptor } = await shown(await broken(uniqueName(''), given));
    const media = [
      { ...picture, kind: 'PICTURE', blurhash },
      { ...file, alt: '', width: null, height: null, blurhash: null },
    ];
    expect(content).toEqual({ body: 'Again.', rating: { value: 2, max: 3 }, media });
    expect(descriptor).toMatchObject({ shots: media });
    const bare = await shown(await broken(uniqueName('')));
    expect(bare.content).toEqual({ body: null, rating: null, media: [] });
    expect(bare.descriptor).toMatchObject({ shots: null });
  });

  test('is rejected if a value is invalid, with the name of its field', async () => {
    const mutation = 'mutation ($input: PublishActionInput!) { publishAction(input: $input) { isReplay } }';
    const tag = uniqueName('');
    for (const [name, value] of [
      ['minutes', -1],
      ['minutes', 1.5],
      ['stage', 'BUILD'],
      ['isNight', 'yes'],
      ['startedAt', 'yesterday'],
      ['branch', 'b'.repeat(201)],
      ['colour', 'red'],
      ['severity', 4],
      ['shots', [{ url: 'http://pictures.example/1.jpg' }]],
      ['shots', [{ url: 'javascript:alert(1)' }]],
      ['shots', Array(3).fill({ url: 'https://pictures.example/1.jpg' })],
    ] as const) {
      const input = { actorId: 'actor', descriptor: { buildFailed: build(tag, { [name]: value }) } };
      const { errors } = await app.query(mutation, { input }, service);
      expect(errors[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
      expect(errors[0]?.message).toContain(name);
    }
    expect(await slice(`web${tag}`)).toEqual([]);
  });

  test('is found by an indexed field, and by no other', async () => {
    const tag = uniqueName('');
    const id = await broken(tag);
    const query = `query ($field: String!, $value: String!) {
      actions(filter: { descriptor: { field: $field, value: $value } }) { edges { node { id } } }
    }`;
    const found = await ask(app, query, { field: 'repoId', value: `web${tag}` }, service);
    expect(found).toEqual({ actions: { edges: [{ node: { id } }] } });
    const { errors } = await app.query(query, { field: 'raterId', value: 'x' }, service);
    expect(errors[0]?.message).toContain('"raterId" is not an indexed field; indexed are repoId');
    const indexes = await app.app.database.collections.actions.indexes();
    expect(indexes.map(({ name }) => name)).toContain('descriptor_repoId_newest');
  });

  test('is in one group with similar actions, with a sentence about all of them', async () => {
    const tag = uniqueName('');
    await upsert(app, { pairs: [{ followerId: `eve${tag}`, refId: `web${tag}` }] });
    await broken(tag);
    await broken(tag, { authorId: `bob${tag}`, authorName: 'Bob' });
    await broken(tag, { branch: 'next' });
    await app.idle();
    const query =
      '{ feedGroups { edges { node { count { count } summary german: summary(locale: "de") } } } }';
    expect(await ask(app, query, {}, { sub: `eve${tag}` })).toEqual({
      feedGroups: {
        edges: [
          {
            node: {
              ...{ count: { count: 1 }, summary: 'Ann broke next of Web' },
              german: 'Ann hat next von Web zerbrochen',
            },
          },
          {
            node: {
              ...{ count: { count: 2 }, summary: 'Bob and Ann broke main of Web' },
              german: 'Bob und Ann haben main von Web zerbrochen',
            },
          },
        ],
      },
    });
  });

  test('shows current names, in the copies too', async () => {
    const tag = uniqueName('');
    const id = await broken(tag);
    const rename =
      'mutation ($refId: String!, $label: String!) { renameRef(refId: $refId, label: $label) { label } }';
    await ask(app, rename, { refId: `web${tag}`, label: 'Website' }, service);
    expect(await shown(id)).toMatchObject({
      refs: [{ label: 'Website' }, { label: 'Ann' }],
      descriptor: {
        repoName: 'Website',
        summary: 'Ann broke main of Website',
        summaryParts: [
          { text: 'Ann', member: null, ref: { refId: `ann${tag}` } },
          { text: ' broke main of ' },
          { text: 'Website', member: null, ref: { refId: `web${tag}` } },
        ],
      },
    });
    await app.idle();
    const stored = await app.app.database.collections.actions.findOne({
      _id: new ObjectId(parseActionId(id, [])),
    });
    expect(stored?.descriptor['repoName']).toBe('Website');
  });

  test('no longer names an erased person', async () => {
    const tag = uniqueName('');
    await upsert(app, { members: [{ memberId: `ann${tag}`, name: 'Ann Lee' }] });
    const id = await broken(tag, {
      authorName: 'Ann Lee',
      branch: 'fix for Ann Lee',
      log: { by: `ann${tag}` },
    });
    const erase = 'mutation ($memberId: String!) { eraseMember(memberId: $memberId) }';
    await ask(app, erase, { memberId: `ann${tag}` }, admin);
    await expect
      .poll(async () => JSON.stringify(await shown(id)), { timeout: 30_000 })
      .not.toMatch(new RegExp(`ann${tag}|Ann Lee`));
    expect((await shown(id)).descriptor).toMatchObject({ repoName: 'Web', branch: 'fix for Former member' });
    expect(await slice(`ann${tag}`)).toEqual([]);
  });

  test('moves to its new refs by an edit, and keeps explicitly given ones', async () => {
    const tag = uniqueName('');
    const id = await publish(app, {
      scope: 'PUBLIC',
      refs: [{ id: `team${tag}`, type: 'team', label: 'Team' }],
      descriptor: { buildFailed: build(tag) },
    });
    const edit =
      'mutation ($id: ID!, $input: UpdateActionInput!) { updateAction(id: $id, input: $input) { refs { refId } } }';
    const moved = { descriptor: { buildFailed: build(tag, { repoId: `api${tag}`, repoName: 'Api' }) } };
    expect(await ask(app, edit, { id, input: moved }, service)).toEqual({
      updateAction: { refs: [{ refId: `team${tag}` }, { refId: `api${tag}` }, { refId: `ann${tag}` }] },
    });
    expect(await slice(`web${tag}`)).toEqual([]);
    expect(await slice(`api${tag}`)).toEqual([id]);
    expect(await ask(app, edit, { id, input: { refs: [] } }, service)).toEqual({
      updateAction: { refs: [{ refId: `api${tag}` }, { refId: `ann${tag}` }] },
    });
  });

  test('keeps a given ref that its descriptor also named, after an edit of the descriptor', async () => {
    const tag = uniqueName('');
    const refs = [
      { id: `web${tag}`, type: 'repo', label: 'Web' },
      { id: `ann${tag}`, type: 'author', label: 'Ann' },
    ];
    const id = await publish(app, { scope: 'PUBLIC', refs, descriptor: { buildFailed: build(tag) } });
    const edit =
      'mutation ($id: ID!, $input: UpdateActionInput!) { updateAction(id: $id, input: $input) { refs { refId type } } }';
    const bob = { authorId: `bob${tag}`, authorName: 'Bob' };
    const change = (more: object): object => ({ descriptor: { buildFailed: build(tag, more) } });
    const given = refs.map(({ id: refId, type }) => ({ refId, type }));
    expect(
      await ask(app, edit, { id, input: change({ repoId: `api${tag}`, repoName: 'Api', ...bob }) }, service),
    ).toEqual({
      updateAction: {
        refs: [...given, { refId: `api${tag}`, type: 'repo' }, { refId: `bob${tag}`, type: 'person' }],
      },
    });
    expect(await ask(app, edit, { id, input: change({}) }, service)).toEqual({
      updateAction: { refs: given },
    });
    // Given refs are the ones of the latest edit that gives some.
    await ask(app, edit, { id, input: { refs: [] } }, service);
    expect(await ask(app, edit, { id, input: change(bob) }, service)).toEqual({
      updateAction: {
        refs: [
          { refId: `web${tag}`, type: 'repo' },
          { refId: `bob${tag}`, type: 'person' },
        ],
      },
    });
  });

  test('is boosted fully for the people it concerns, as long as it does', async () => {
    const tag = uniqueName('');
    const readers = [`ann${tag}`, `eve${tag}`];
    await upsert(app, { pairs: readers.map((followerId) => ({ followerId, refId: `web${tag}` })) });
    const conducted = new Date(Date.now() - 3_600_000).toISOString();
    const id = await publish(app, {
      ...{ scope: 'PUBLIC', conducted },
      descriptor: { buildFailed: build(tag) },
    });
    const at = new Date(Date.now() - 60_000).toISOString();
    const comment = `mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { action { id } } }`;
    await ask(app, comment, { input: { actionId: id, kind: 'LIKE', actorId: 'bob', at } }, service);
    await app.idle();
    const [ann, eve] = await Promise.all(readers.map((reader) => feedOf(app, reader)));
    expect(ann?.[0]?.relevancy).toBe(at);
    expect(eve?.[0]?.relevancy).not.toBe(at);
    const edit =
      'mutation ($id: ID!, $input: UpdateActionInput!) { updateAction(id: $id, input: $input) { version } }';
    const byEve = { buildFailed: build(tag, { authorId: `eve${tag}`, authorName: 'Eve' }) };
    await ask(app, edit, { id, input: { descriptor: byEve } }, service);
    const later = { actionId: id, kind: 'LIKE', actorId: 'cid' };
    const added = await ask<{ addInteraction: { interaction: { at: string } } }>(
      app,
      'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { at } } }',
      { input: later },
      service,
    );
    await app.idle();
    const [formerly, now] = await Promise.all(readers.map((reader) => feedOf(app, reader)));
    expect([formerly?.[0]?.relevancy, now?.[0]?.relevancy]).toEqual([
      at,
      added.addInteraction.interaction.at,
    ]);
  });
});

/** As of the types of this process, with a field of the kinds that JSON has not. */
const CONFIG = `
import { defineConfig, defineDescriptor, field } from '@fanfare/server';
export default defineConfig({
  packs: ['social'],
  descriptors: [
    defineDescriptor('BuildFailed', {
      description: 'A build broke.',
      fields: {
        repoId: field.ref('repo', { label: 'repoName', indexed: true }),
        repoName: field.text(),
        authorId: field.person({ name: 'authorName', concerned: true }),
        authorName: field.text(),
        branch: field.text({ max: 200 }),
        startedAt: field.dateTime({ optional: true }),
        log: field.json(),
      },
      summary: { en: '{authorId} broke {branch} of {repoId}' },
      group: ['repoId', 'branch'],
    }),
  ],
});`;

describe('fanfare import', () => {
  test.each(['straight into the databases', 'through the API'])(
    'imports actions and follows of a declared type %s',
    async (way) => {
      const tag = uniqueName('');
      const folder = await mkdtemp(join(tmpdir(), 'fanfare-own-import-'));
      try {
        const log = { lines: ['a'] };
        const startedAt = '2024-01-31T12:00:00.000Z';
        const action = {
          ...{ idempotencyKey: `k${tag}`, actorId: `bob${tag}`, scope: 'PUBLIC' },
          expiresAt: '2099-01-01T00:00:00Z',
          descriptor: { buildFailed: build(tag, { startedAt, log }) },
        };
        const bad = { ...action, descriptor: { buildFailed: build(tag, { branch: 'b'.repeat(201) }) } };
        const other = { ...action, idempotencyKey: `o${tag}`, descriptor: { posted: { postId: 'p' } } };
        const follow = {
          ...{ followerId: `eve${tag}`, refId: `bob${tag}` },
          ...{ types: ['BuildFailed'], isAssigned: true },
        };
        const at = (name: string) => join(folder, name);
        await writeFile(at('fanfare.config.ts'), CONFIG);
        await writeFile(
          at('actions.ndjson'),
          [action, bad, other].map((line) => JSON.stringify(line)).join('\n'),
        );
        await writeFile(at('follows.ndjson'), JSON.stringify(follow));
        const { stdout, stderr } = await runCli(
          [
            ...['import', '--actions', at('actions.ndjson'), '--follows', at('follows.ndjson')],
            ...(way === 'through the API' ? ['--url', app.url] : ['--no-worker']),
          ],
          { ...app.env, FANFARE_CONFIG: at('fanfare.config.ts'), DATA_DIR: folder },
        );
        expect(stdout).toMatch(/^follows +1 line in [\d.]+ s, 1 written$/m);
        expect(stdout).toMatch(/^actions +3 lines in [\d.]+ s, 2 written, 1 bad$/m);
        expect(stderr).toMatch(/actions\.ndjson:2: descriptor\.buildFailed\.branch: /);
        await app.idle();
        const [item, ...more] = await feedOf(app, `eve${tag}`);
        expect(more).toEqual([]);
        expect((await shown(item?.action.id ?? '')).descriptor).toMatchObject({
          ...build(tag, { startedAt, log }),
          summary: 'Ann broke main of Web',
        });
        const stored = await app.app.database.collections.actions.findOne({ idempotencyKey: `k${tag}` });
        expect(stored).toMatchObject({ expiresAt: new Date('2099-01-01T00:00:00Z') });
        expect(stored?.descriptor['startedAt']).toEqual(new Date(startedAt));
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );
});

describe('a type that is no longer declared', () => {
  /** As it would be stored by a server whose configuration had it. */
  async function retired(tag: string): Promise<string> {
    const id = await broken(tag);
    const { actions } = app.app.database.collections;
    await actions.updateOne(
      { _id: new ObjectId(parseActionId(id, [])) },
      { $set: { 'descriptor.type': 'Retired' } },
    );
    return id;
  }

  test('keeps its actions readable everywhere, in their groups', async () => {
    const tag = uniqueName('');
    const reader = { sub: `eve${tag}` };
    await upsert(app, { pairs: [{ followerId: reader.sub, refId: `web${tag}` }] });
    const ids = [await retired(tag), await retired(tag)];
    await app.idle();
    expect((await shown(ids[0] ?? '')).descriptor).toMatchObject({
      ...{ __typename: 'UnknownDescriptor', type: 'Retired', summary: 'Retired' },
      data: { ...build(tag), log: {} },
    });
    expect((await feedOf(app, reader.sub)).map(({ action }) => action.id)).toEqual(ids.toReversed());
    expect(await slice(`web${tag}`)).toEqual(ids.toReversed());
    const groups = '{ feedGroups { edges { node { count { count } summary items { action { id } } } } } }';
    const items = ids.toReversed().map((id) => ({ action: { id } }));
    expect(await ask(app, groups, {}, reader)).toEqual({
      feedGroups: { edges: [{ node: { count: { count: 2 }, summary: 'Retired', items } }] },
    });
  });

  test('can be edited except for the descriptor, hidden and erased from, but not filtered by', async () => {
    const tag = uniqueName('');
    const id = await retired(tag);
    const edit =
      'mutation ($id: ID!, $input: UpdateActionInput!) { updateAction(id: $id, input: $input) { version } }';
    const { errors } = await app.query(
      edit,
      { id, input: { descriptor: { buildFailed: build(tag) } } },
      service,
    );
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('Must be of the type Retired'),
      extensions: { code: 'BAD_USER_INPUT' },
    });
    expect(await ask(app, edit, { id, input: { mentions: ['eve'] } }, service)).toEqual({
      updateAction: { version: 2 },
    });
    const stored = await app.app.database.collections.actions.findOne({
      _id: new ObjectId(parseActionId(id, [])),
    });
    expect(stored?.groupKey).toBeDefined();
    const filter =
      'query ($types: [String!]) { actions(filter: { types: $types }) { edges { node { id } } } }';
    const refused = await app.query(filter, { types: ['Retired'] }, service);
    expect(refused.errors[0]?.message).toContain('Unknown type "Retired"');
    const erase = 'mutation ($memberId: String!) { eraseMember(memberId: $memberId) }';
    await ask(app, erase, { memberId: `ann${tag}` }, admin);
    await expect
      .poll(async () => JSON.stringify(await shown(id)), { timeout: 30_000 })
      .not.toContain(`ann${tag}`);
  });
});
