import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createFeedClient, itemFields } from '@fanfare/client';
import { feedItemFields } from '@fanfare/react/server';
import { parse, validate } from 'graphql';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as moreDocuments from '../../packages/react/src/more-documents.ts';
import { buildSchema } from '../../src/app/schema.ts';
import { createProgram } from '../../src/cli/program.ts';
import { FEATURES } from '../../src/app/features.ts';
import { commandContext } from '../support/command-context.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startWatch } from '../support/client-watches.ts';
import { upsert } from '../support/feed-api.ts';
import { PROJECT } from '../support/project-copy.ts';
import { recordingTerminal } from '../support/recording-terminal.ts';

const FOLDER = join(PROJECT, 'packages/react/test/own-types');
// By its address: imported by name it would give all other tests these types as well.
const { fields } = (await import(pathToFileURL(join(FOLDER, 'fanfare.js')).href)) as {
  readonly fields: { readonly action: string };
};
/** All four kinds of fields a host may add. */
const ALL = {
  ...fields,
  comment: 'data',
  item: 'pinnedUntil: snoozedUntil',
  notification: 'count { count }',
};
const RECIPE = { recipeId: 'lasagne', recipeName: 'Lasagne' };

async function run(...args: string[]): Promise<void> {
  const { terminal } = recordingTerminal();
  const config = ['--config', join(FOLDER, 'fanfare.config.mjs')];
  const program = await createProgram(commandContext({ env: {}, terminal }), FEATURES, () => undefined);
  await program.parseAsync(['node', 'fanfare', ...args, ...config]);
}

test('fanfare schema --types writes what the frontend of types of its own was compiled with', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-types-'));
  try {
    await run('schema', '--types', join(folder, 'fanfare.d.ts'));
    for (const name of ['fanfare.d.ts', 'fanfare.js'])
      expect(await readFile(join(folder, name), 'utf8')).toBe(await readFile(join(FOLDER, name), 'utf8'));
    await expect(run('schema', '--types', join(folder, 'fanfare.ts'))).rejects.toThrow('src/fanfare.d.ts');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('what it selects fits the schema, in every document of the hooks', async () => {
  const schema = await buildSchema();
  const documents = Object.values(moreDocuments).flatMap((document) =>
    typeof document === 'string' ? [] : [document(ALL)],
  );
  documents.push(
    `fragment Item on NewsfeedItem { ${itemFields(ALL)} } query { feed { edges { node { ...Item } } } }`,
  );
  expect(documents.flatMap((document) => validate(schema, parse(document)))).toEqual([]);
});

describe('own fields of a type', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ env: { POLL_INTERVAL: '100ms' } });
  });
  afterAll(() => app[Symbol.asyncDispose]());

  test.each([
    ['client', ALL],
    ['client of the hooks', { ...ALL, base: feedItemFields }],
  ])('come with pages, events and notifications of a %s', async (name, asked) => {
    const [reader, actor] = [`reader-of-${name}`, `actor-of-${name}`];
    const imageUrl = 'https://example.com/actor.png';
    await upsert(app, {
      members: [{ memberId: actor, name: 'Ada', imageUrl }],
      pairs: [{ followerId: reader, refId: actor }],
    });
    const options = { url: `${app.url}/graphql`, webSocket: WebSocket, fields: asked };
    const client = createFeedClient({ ...options, token: await app.token(reader) });
    await using watch = startWatch(client);
    await watch.until(({ states }) => states.includes('live'));
    const { mutations } = createFeedClient({ ...options, token: await app.token(actor) });
    const recipeCooked = { ...RECIPE, rating: 4.5, note: 'Twice as much cheese', course: 'MAIN' };
    const { action } = await mutations.publishAction({
      input: { descriptor: { recipeCooked }, mentions: [reader] },
    });
    await watch.until((one) => one.added().includes(action.id));
    const descriptor = {
      ...{
        type: 'RecipeCooked',
        ...RECIPE,
        ratingOfRecipeCooked: 4.5,
        note: recipeCooked.note,
        course: 'MAIN',
      },
    };
    expect(watch.events.map((event) => 'item' in event && event.item.action.descriptor)).toContainEqual(
      expect.objectContaining(descriptor),
    );
    await app.idle();
    const { edges } = await client.feed();
    expect(edges[0]?.node).toMatchObject({
      pinnedUntil: null,
      action: { descriptor, actor: { name: 'Ada', imageUrl } },
    });
    const notified = await client.notifications();
    expect(notified.edges[0]?.node).toMatchObject({
      ...{ count: { count: 1 }, actors: [{ imageUrl }] },
      action: { descriptor: { ...descriptor, summary: 'Ada cooked Lasagne' } },
    });
    const { interaction } = await client.mutations.addInteraction({
      input: { actionId: action.id, kind: 'COMMENT', text: 'Yum', data: { stars: 3 } },
    });
    expect(interaction).toMatchObject({ data: { stars: 3 }, actor: { imageUrl: null } });
    expect(await client.request(moreDocuments.comments(ALL), { id: action.id, first: 5 })).toMatchObject({
      node: { interactions: { edges: [{ node: { data: { stars: 3 } } }] } },
    });
  });
});
