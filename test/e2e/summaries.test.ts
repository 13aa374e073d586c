import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { watchFeed } from '../support/live-clients.ts';
import { uniqueName } from '../support/unique-name.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app[Symbol.asyncDispose]());

/** Ann asks Bob to rate Mary, who is a thing with a label. */
async function askedToRate(tag: string): Promise<string> {
  await upsert(app, {
    members: [
      { memberId: `ann${tag}`, name: 'Ann' },
      { memberId: `bob${tag}`, name: 'Bob' },
    ],
    refs: [{ id: `mary${tag}`, type: 'applicant', label: 'Mary' }],
  });
  return publish(app, {
    actorId: `ann${tag}`,
    scope: 'PUBLIC',
    refs: [{ id: `mary${tag}`, type: 'applicant', label: 'Mary' }],
    descriptor: {
      applicantRatingRequested: {
        ...{ requestedFromId: `bob${tag}`, requestedFromName: 'Bob' },
        ...{ applicantId: `mary${tag}`, applicantName: 'Mary' },
      },
    },
  });
}

async function summaryFor(id: string, languages: string | null, field = 'summary'): Promise<unknown> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${await app.token('reader')}`,
      ...(languages === null ? {} : { 'accept-language': languages }),
    },
    body: JSON.stringify({
      query: `query ($id: ID!) { action(id: $id) { descriptor { shown: ${field} } } }`,
      variables: { id },
    }),
  });
  const { data } = (await response.json()) as { data: { action: { descriptor: { shown: unknown } } } };
  return data.action.descriptor.shown;
}

const ENGLISH = 'Ann asked Bob to rate Mary';
const GERMAN = 'Ann hat Bob gebeten, Mary zu bewerten';

test('a sentence is in the language of the request, unless a field selects another', async () => {
  const id = await askedToRate(uniqueName(' '));
  expect(await summaryFor(id, null)).toBe(ENGLISH);
  expect(await summaryFor(id, 'de')).toBe(GERMAN);
  expect(await summaryFor(id, 'de-AT, en;q=0.5')).toBe(GERMAN);
  expect(await summaryFor(id, 'fr, de;q=0.2')).toBe(GERMAN);
  expect(await summaryFor(id, 'en, de;q=0.2')).toBe(ENGLISH);
  expect(await summaryFor(id, 'fr')).toBe(ENGLISH);
  expect(await summaryFor(id, ';;=, q=%')).toBe(ENGLISH);
  expect(await summaryFor(id, 'de,'.repeat(1_000))).toBe(ENGLISH);
  expect(await summaryFor(id, 'de', 'summary(locale: "en-GB")')).toBe(ENGLISH);
  expect(await summaryFor(id, null, 'summary(locale: "de")')).toBe(GERMAN);
});

test.each([
  ['de-AT, en;q=0.5', 'de'],
  ['fr', 'en'],
  [undefined, 'en'],
])('each answer and each socket says the language of its sentences: %s', async (languages, said) => {
  const url = `${app.url}/graphql`;
  const authorization = `Bearer ${await app.token('reader')}`;
  const asked: Record<string, string> = languages === undefined ? {} : { 'accept-language': languages };
  const headers = { 'content-type': 'application/json', authorization, ...asked };
  // The second time by the short way.
  for (const body of ['{"query":"{ __typename }"}', '{"query":"{ __typename }"}', '{"query":"{ wrong }"}'])
    expect((await fetch(url, { method: 'POST', headers, body })).headers.get('content-language')).toBe(said);
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', { headers: asked });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }));
  const [data] = (await once(socket, 'message')) as [Buffer];
  expect(JSON.parse(data.toString())).toMatchObject({ payload: { 'content-language': said } });
  socket.terminate();
});

test('rejects a locale that is too long', async () => {
  const id = await askedToRate(uniqueName(' '));
  const query =
    'query ($id: ID!, $locale: String) { action(id: $id) { descriptor { summary(locale: $locale) } } }';
  const { errors } = await app.query(query, { id, locale: 'd'.repeat(257) });
  expect(errors[0]).toMatchObject({
    message: 'locale must be at most 256 characters, got 257',
    extensions: { code: 'BAD_USER_INPUT' },
  });
});

test('the parts of a sentence link the people and things it names, and add up to the sentence', async () => {
  const tag = uniqueName(' ');
  const id = await askedToRate(tag);
  const { action } = await ask<{
    action: { descriptor: { summary: string; summaryParts: readonly { text: string }[] } };
  }>(
    app,
    `query ($id: ID!) {
      action(id: $id) {
        descriptor { summary summaryParts { text member { memberId name } ref { refId type label } } }
      }
    }`,
    { id },
    { sub: 'reader' },
  );
  const { summary, summaryParts } = action.descriptor;
  expect(summaryParts).toEqual([
    { text: 'Ann', member: { memberId: `ann${tag}`, name: 'Ann' }, ref: null },
    { text: ' asked ', member: null, ref: null },
    { text: 'Bob', member: { memberId: `bob${tag}`, name: 'Bob' }, ref: null },
    { text: ' to rate ', member: null, ref: null },
    { text: 'Mary', member: null, ref: { refId: `mary${tag}`, type: 'applicant', label: 'Mary' } },
  ]);
  expect(summaryParts.map(({ text }) => text).join('')).toBe(summary);
});

test('sentences of every type use current names, not ids', async () => {
  const tag = uniqueName(' ');
  await upsert(app, {
    members: [{ memberId: `ann${tag}`, name: 'Ann' }],
    refs: [{ id: `mary${tag}`, type: 'applicant', label: 'Mary Fanning' }],
  });
  const id = await publish(app, {
    actorId: `ann${tag}`,
    scope: 'PUBLIC',
    descriptor: { custom: { verb: 'invited', objectType: 'applicant', objectId: `mary${tag}` } },
  });
  expect(await summaryFor(id, null)).toBe('Ann invited applicant Mary Fanning');
});

interface GroupShown {
  readonly summary: string;
  readonly german: string;
  readonly summaryParts: readonly {
    readonly text: string;
    readonly member: unknown;
    readonly ref: unknown;
  }[];
}

async function groupsOf(reader: string): Promise<readonly GroupShown[]> {
  const { feedGroups } = await ask<{ feedGroups: { edges: readonly { node: GroupShown }[] } }>(
    app,
    `{ feedGroups { edges { node {
      summary german: summary(locale: "de")
      summaryParts { text member { memberId } ref { refId } }
    } } } }`,
    {},
    { sub: reader },
  );
  return feedGroups.edges.map(({ node }) => node);
}

/** Mary is rated by as many as there are names, by the last of them twice; the reader follows her. */
async function rated(tag: string, names: readonly string[]): Promise<void> {
  await upsert(app, {
    members: names.map((name) => ({ memberId: `${name}${tag}`, name })),
    pairs: [{ followerId: `reader${tag}`, refId: `mary${tag}` }],
  });
  for (const [index, name] of [...names, names.at(-1) ?? ''].entries())
    await publish(app, {
      ...{ actorId: `${name}${tag}`, scope: 'PUBLIC', conducted: `2024-01-10T10:00:0${String(index)}Z` },
      refs: [{ id: `mary${tag}`, type: 'applicant', label: 'Mary' }],
      descriptor: {
        applicationRating: {
          ...{ raterId: `${name}${tag}`, raterName: name, ratingScore: index, ratingText: '' },
          ...{ applicantId: `mary${tag}`, applicantName: 'Mary', positionId: 'j', positionName: 'Engineer' },
        },
      },
    });
}

test.each([
  [['Ann'], 'Ann rated Mary for Engineer', 'Ann hat Mary für Engineer bewertet'],
  [['Ann', 'Bob'], 'Bob and Ann rated Mary for Engineer', 'Bob und Ann haben Mary für Engineer bewertet'],
  [
    ['Ann', 'Bob', 'Cid'],
    'Cid, Bob, and Ann rated Mary for Engineer',
    'Cid, Bob und Ann haben Mary für Engineer bewertet',
  ],
  [
    ['Ann', 'Bob', 'Cid', 'Dan'],
    'Dan, Cid, and 2 others rated Mary for Engineer',
    'Dan, Cid und 2 weitere haben Mary für Engineer bewertet',
  ],
])('a group of several ratings by %j reads "%s"', async (names, english, german) => {
  const tag = uniqueName(' ');
  await rated(tag, names);
  await expect
    .poll(async () => (await groupsOf(`reader${tag}`)).map((group) => [group.summary, group.german]))
    .toEqual([[english, german]]);
});

test('the parts of a group sentence link everybody they name', async () => {
  const tag = uniqueName(' ');
  await rated(tag, ['Ann', 'Bob', 'Cid', 'Dan']);
  const person = (name: string): object => ({ text: name, member: { memberId: `${name}${tag}` }, ref: null });
  const words = (text: string): object => ({ text, member: null, ref: null });
  await expect
    .poll(async () => (await groupsOf(`reader${tag}`)).map(({ summaryParts }) => summaryParts))
    .toEqual([
      [
        ...[person('Dan'), words(', '), person('Cid'), words(', and 2 others rated ')],
        { text: 'Mary', member: null, ref: { refId: `mary${tag}` } },
        ...[words(' for '), { text: 'Engineer', member: null, ref: null }],
      ],
    ]);
});

test('a group of one item has the sentence of its item', async () => {
  const tag = uniqueName(' ');
  await upsert(app, { pairs: [{ followerId: `reader${tag}`, refId: `mary${tag}` }] });
  await askedToRate(tag);
  await expect
    .poll(async () => (await groupsOf(`reader${tag}`)).map((group) => [group.summary, group.german]))
    .toEqual([[ENGLISH, GERMAN]]);
});

test.each(['WebSocket', 'SSE'] as const)(
  'live events by %s use the language of the connection',
  async (transport) => {
    const tag = uniqueName(' ');
    await upsert(app, { pairs: [{ followerId: `reader${tag}`, refId: `mary${tag}` }] });
    await using german = await watchFeed(transport, app, `reader${tag}`, { languages: 'de-CH' });
    await using english = await watchFeed(transport, app, `reader${tag}`);
    await askedToRate(tag);
    expect(await german.next()).toMatchObject({ item: { action: { descriptor: { summary: GERMAN } } } });
    expect(await english.next()).toMatchObject({ item: { action: { descriptor: { summary: ENGLISH } } } });
  },
);
