import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { useOwnTypes } from '../support/own-types.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { uniqueName } from '../support/unique-name.ts';
import { watchFeed } from '../support/live-clients.ts';

let app: TestApp;
beforeAll(async () => {
  useOwnTypes();
  app = await startTestApp({ env: { POLL_INTERVAL: '100ms' } });
});
afterAll(() => app[Symbol.asyncDispose]());

const liked = (tag: string) => ({
  liked: { objectType: 'post', objectId: `p${tag}`, objectName: 'Launch' },
});

function broken(tag: string): Promise<string> {
  const build = { repoId: `web${tag}`, repoName: 'Web', authorId: `ann${tag}`, authorName: 'Ann' };
  return publish(app, { scope: 'PUBLIC', descriptor: { buildFailed: { ...build, branch: 'main' } } });
}

/** What is said in answer to a request in these languages. */
async function said(id: string, languages: string, more = ''): Promise<unknown> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', 'accept-language': languages },
      authorization: `Bearer ${await app.token('reader')}`,
    },
    body: JSON.stringify({
      query: `query ($id: ID!) {
        action(id: $id) { descriptor { summary english: summary(locale: "en") ${more} } }
      }`,
      variables: { id },
    }),
  });
  const { data } = (await response.json()) as { data: { action: { descriptor: unknown } } };
  return data.action.descriptor;
}

test('a configured language is served by header, English by the argument', async () => {
  const id = await broken(uniqueName(''));
  const english = 'Ann broke main of Web';
  expect(await said(id, 'fr-CH, en;q=0.5')).toEqual({ summary: 'Ann a cassé main de Web', english });
  expect(await said(id, 'it, fr;q=0.5')).toEqual({ summary: 'Ann a cassé main de Web', english });
  expect(await said(id, 'it')).toEqual({ summary: english, english });
});

test('an erased member has the configured name in each language', async () => {
  const tag = uniqueName('');
  const id = await broken(tag);
  const erase = 'mutation ($memberId: String!) { eraseMember(memberId: $memberId) }';
  await ask(app, erase, { memberId: `ann${tag}` }, { sub: 'admin', roles: ['admin'] });
  await expect
    .poll(() => said(id, 'fr'), { timeout: PATIENCE_MS })
    .toEqual({ summary: 'Ancien membre a cassé main de Web', english: 'Former member broke main of Web' });
  const more =
    'summaryParts { text member { name } ref { label } } ... on BuildFailedDescriptor { authorName }';
  const german = await said(id, 'de-AT', more);
  expect(german).toMatchObject({
    summary: 'Ehemaliges Mitglied hat main von Web zerbrochen',
    authorName: 'Ehemaliges Mitglied',
  });
  // As a link, too.
  expect(JSON.stringify(german).match(/Former member/g)).toHaveLength(1);
});

test('a built-in type without a sentence in the language is served in English', async () => {
  const tag = uniqueName('');
  await upsert(app, { members: [{ memberId: `ann${tag}`, name: 'Ann' }] });
  const id = await publish(app, {
    ...{ actorId: `ann${tag}`, scope: 'PUBLIC' },
    descriptor: { posted: { postId: `p${tag}`, postTitle: 'Launch' } },
  });
  expect(await said(id, 'fr')).toMatchObject({ summary: 'Ann posted Launch' });
});

test('lists and counts of names follow the rules of the language', async () => {
  const tag = uniqueName('');
  const names = ['Ann', 'Bob', 'Cid', 'Dan'];
  const ref = { id: `p${tag}`, type: 'post', label: 'Launch' };
  await upsert(app, {
    members: names.map((name) => ({ memberId: `${name}${tag}`, name })),
    pairs: [{ followerId: `eve${tag}`, refId: ref.id }],
  });
  const sentence = async (): Promise<unknown> => {
    const query = `{ feedGroups { edges { node {
      summary(locale: "fr") summaryParts(locale: "fr") { text member { memberId } }
    } } } }`;
    const { feedGroups } = await ask<{ feedGroups: { edges: readonly { node: unknown }[] } }>(
      app,
      query,
      {},
      { sub: `eve${tag}` },
    );
    return feedGroups.edges.map(({ node }) => node);
  };
  const like = async (name: string): Promise<void> => {
    await publish(app, { actorId: `${name}${tag}`, scope: 'PUBLIC', refs: [ref], descriptor: liked(tag) });
    await app.idle();
  };
  await like('Ann');
  expect(await sentence()).toMatchObject([{ summary: 'Ann aime post Launch' }]);
  await like('Bob');
  expect(await sentence()).toMatchObject([{ summary: 'Bob et Ann aiment post Launch' }]);
  await like('Cid');
  await like('Dan');
  const all = 'Dan, Cid et 2 autres aiment post Launch';
  expect(await sentence()).toMatchObject([
    {
      summary: all,
      summaryParts: [
        { text: 'Dan', member: { memberId: `Dan${tag}` } },
        { text: ', ' },
        { text: 'Cid', member: { memberId: `Cid${tag}` } },
        { text: ' et 2 autres aiment post ' },
        { text: 'Launch', member: null },
      ],
    },
  ]);
});

test.each(['WebSocket', 'SSE'] as const)('live events by %s use it', async (transport) => {
  const tag = uniqueName('');
  await upsert(app, { pairs: [{ followerId: `eve${tag}`, refId: `web${tag}` }] });
  await using french = await watchFeed(transport, app, `eve${tag}`, { languages: 'fr' });
  await using german = await watchFeed(transport, app, `eve${tag}`, { languages: 'de' });
  await broken(tag);
  const summary = (text: string) => ({ item: { action: { descriptor: { summary: text } } } });
  expect(await french.next()).toMatchObject(summary('Ann a cassé main de Web'));
  expect(await german.next()).toMatchObject(summary('Ann hat main von Web zerbrochen'));
});
