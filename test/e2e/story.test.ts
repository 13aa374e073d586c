import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask } from '../support/feed-api.ts';
import {
  APPLIED,
  day,
  HIRED,
  MARY,
  NOTE,
  NOTED,
  playStory,
  POSITION,
  RATED,
  RATING,
  REQUEST,
  REQUESTED,
  tellStory,
} from '../support/story.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  await tellStory(app);
});
afterAll(async () => app[Symbol.asyncDispose]());

interface Entry {
  readonly reasons: readonly string[];
  readonly action: { readonly descriptor: { readonly summary: string } };
}

async function feedOf(sub: string): Promise<(readonly [string, ...string[]])[]> {
  const { feed } = await ask<{ feed: { edges: { node: Entry }[] } }>(
    app,
    '{ feed(first: 100) { edges { node { reasons action { descriptor { summary } } } } } }',
    {},
    { sub },
  );
  return feed.edges.map(({ node }) => [node.action.descriptor.summary, ...[...node.reasons].sort()] as const);
}

async function sliceFor(sub: string, refId: string, filter: object | null = null): Promise<string[]> {
  const { slice } = await ask<{ slice: { edges: { node: Entry['action'] }[] } }>(
    app,
    `query ($refId: String!, $filter: ActionFilter) {
      slice(refId: $refId, filter: $filter) { edges { node { descriptor { summary } } } }
    }`,
    { refId, filter },
    { sub },
  );
  return slice.edges.map(({ node }) => node.descriptor.summary);
}

test('gives every member the feed of what concerns them, newest first, with reasons', async () => {
  expect(await feedOf('john')).toEqual([
    [HIRED, 'DEPARTMENT'],
    [REQUESTED, 'MENTION', 'TEAM'],
  ]);
  expect(await feedOf('sue')).toEqual([
    [HIRED, 'DEPARTMENT'],
    [NOTED, 'RECIPIENT'],
    [RATED, 'FOLLOW'],
    [REQUESTED, 'TEAM'],
    [APPLIED, 'FOLLOW'],
  ]);
  expect(await feedOf('rita')).toEqual([
    [HIRED, 'MENTION'],
    [RATED, 'FOLLOW'],
    [APPLIED, 'FOLLOW'],
  ]);
  expect(await feedOf('paul')).toEqual([[HIRED, 'DEPARTMENT']]);
  expect(await feedOf('stranger')).toEqual([]);
});

test('records nothing twice when the story is played again', async () => {
  expect(await playStory(app)).toEqual([true, true, true, true, true]);
  expect((await feedOf('sue')).length).toBe(5);
});

test('slices by applicant and by position, showing each viewer what they may see', async () => {
  for (const refId of [MARY.applicantId, POSITION.positionId]) {
    expect(await sliceFor('sue', refId)).toEqual([HIRED, NOTED, RATED, REQUESTED, APPLIED]);
    expect(await sliceFor('john', refId)).toEqual([HIRED, RATED, REQUESTED, APPLIED]);
    expect(await sliceFor('paul', refId)).toEqual([HIRED, APPLIED]);
    expect(await sliceFor('stranger', refId)).toEqual([APPLIED]);
  }
  expect(await sliceFor('sue', 'applicant:nobody')).toEqual([]);
});

test('filters slices by type, actor, tag and time', async () => {
  const mary = MARY.applicantId;
  expect(await sliceFor('sue', mary, { types: ['ApplicationRating', 'NewApplicant'] })).toEqual([
    RATED,
    APPLIED,
  ]);
  expect(await sliceFor('sue', mary, { actorIds: ['rita'] })).toEqual([NOTED, APPLIED]);
  expect(await sliceFor('sue', mary, { tags: ['no-cookie'] })).toEqual([RATED]);
  expect(await sliceFor('sue', mary, { since: day(2), until: day(4) })).toEqual([RATED, REQUESTED]);
});

test('has a page for every actor', async () => {
  expect(await sliceFor('sue', 'rita')).toEqual([NOTED, APPLIED]);
  expect(await sliceFor('stranger', 'rita')).toEqual([APPLIED]);
  expect(await sliceFor('john', 'john')).toEqual([RATED]);
  expect(await sliceFor('stranger', 'john')).toEqual([]);
});

test('keeps every field of every descriptor', async () => {
  const { slice } = await ask<{ slice: { edges: { node: { descriptor: object } }[] } }>(
    app,
    `{ slice(refId: "applicant:mary") { edges { node { descriptor {
      __typename type tags
      ... on NewApplicantDescriptor { applicantId applicantName positionId positionName }
      ... on ApplicantHiredDescriptor { applicantId applicantName positionId positionName }
      ... on ApplicantRatingRequestedDescriptor { applicantId applicantName requestedFromId requestedFromName }
      ... on ApplicationRatingDescriptor {
        raterId raterName applicantId applicantName positionId positionName ratingScore ratingText
      }
      ... on CustomDescriptor { verb objectType objectId targetId data }
    } } } } }`,
    {},
    { sub: 'sue' },
  );
  const named = (type: string) => ({ __typename: `${type}Descriptor`, type, tags: [] });
  expect(slice.edges.map(({ node }) => node.descriptor)).toEqual([
    { ...named('ApplicantHired'), ...MARY, ...POSITION },
    { ...named('Custom'), ...NOTE },
    { ...named('ApplicationRating'), ...RATING },
    { ...named('ApplicantRatingRequested'), ...REQUEST },
    { ...named('NewApplicant'), ...MARY, ...POSITION },
  ]);
});

test('shows the current label of a ref, in feeds and slices', async () => {
  const labels = `query ($refId: String!) {
    feed(first: 1) { edges { node { action { refs { label } } } } }
    slice(refId: $refId, first: 1) { edges { node { refs { label } } } }
  }`;
  const ref = (label: string) => ({ refs: [{ id: 'applicant:mary', type: 'applicant', label }] });
  const upsert = 'mutation ($refs: [RefInput!]!) { upsertRefs(refs: $refs) }';
  for (const label of ['Mary Fanning-Doe', MARY.applicantName]) {
    await ask(app, upsert, ref(label));
    const refs = [{ label }, { label: POSITION.positionName }];
    expect(await ask(app, labels, { refId: MARY.applicantId }, { sub: 'sue' })).toEqual({
      feed: { edges: [{ node: { action: { refs } } }] },
      slice: { edges: [{ node: { refs } }] },
    });
  }
});

test('finds actions, items and members by their ids, single and together', async () => {
  const item = '__typename id relevancy reasons action { __typename id actor { __typename id name } }';
  interface Shown {
    id: string;
    action: { id: string; actor: { id: string } };
  }
  const { feed } = await ask<{ feed: { edges: { node: Shown }[] } }>(
    app,
    `{ feed { edges { node { ${item} } } } }`,
    {},
    { sub: 'sue' },
  );
  const nodes = feed.edges.flatMap(({ node }) => [node, node.action, node.action.actor]);
  const fields = `
    ... on NewsfeedItem { ${item} }
    ... on Action { __typename id actor { __typename id name } }
    ... on Member { __typename id name }`;
  const found = await ask<{ nodes: object[] }>(
    app,
    `query ($ids: [ID!]!) { nodes(ids: $ids) { ${fields} } }`,
    { ids: nodes.map(({ id }) => id) },
    { sub: 'sue' },
  );
  expect(nodes.length).toBe(15);
  expect(found.nodes).toEqual(nodes);
  for (const node of nodes.slice(0, 3)) {
    const query = `query ($id: ID!) { node(id: $id) { ${fields} } }`;
    expect(await ask(app, query, { id: node.id }, { sub: 'sue' })).toEqual({ node });
  }
  const others = await ask<{ nodes: (object | null)[] }>(
    app,
    'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    { ids: nodes.slice(3, 6).map(({ id }) => id) },
    { sub: 'stranger' },
  );
  expect(others.nodes.map((node) => node === null)).toEqual([true, true, false]);
});

test('delivers the requested number of past actions, and lists what is followed', async () => {
  const follow =
    'mutation ($limit: Int!) { follow(refId: "applicant:mary", copyLimit: $limit) { refId label isFollowed } }';
  const followed = { refId: MARY.applicantId, label: MARY.applicantName, isFollowed: true };
  expect(await ask(app, follow, { limit: 1 }, { sub: 'nina' })).toEqual({ follow: followed });
  expect(await feedOf('nina')).toEqual([[RATED, 'FOLLOW']]);
  await ask(app, follow, { limit: 0 }, { sub: 'omar' });
  expect(await feedOf('omar')).toEqual([]);
  await ask(app, follow, { limit: 100 }, { sub: 'pia' });
  expect(await feedOf('pia')).toEqual([
    [RATED, 'FOLLOW'],
    [APPLIED, 'FOLLOW'],
  ]);
  const list = '{ viewer { following { edges { node { refId type followerCount } } } } }';
  expect(await ask(app, list, {}, { sub: 'nina' })).toEqual({
    viewer: {
      following: { edges: [{ node: { refId: MARY.applicantId, type: 'applicant', followerCount: 4 } }] },
    },
  });
  expect(await sliceFor('omar', MARY.applicantId)).toEqual([RATED, APPLIED]);
});

test("counts unread items, down to the reader's mark", async () => {
  const state =
    '{ viewer { lastRead unreadCount { count isExact } } feed { unread { count } edges { node { isUnread } } } }';
  const mark = 'mutation ($upTo: DateTime!) { markFeedRead(upTo: $upTo) { lastRead unreadCount { count } } }';
  const shown = (lastRead: string | null, unread: readonly boolean[]) => ({
    viewer: { lastRead, unreadCount: { count: unread.filter(Boolean).length, isExact: true } },
    feed: {
      unread: { count: unread.filter(Boolean).length },
      edges: unread.map((isUnread) => ({ node: { isUnread } })),
    },
  });
  const sue = { sub: 'sue' };
  expect(await ask(app, state, {}, sue)).toEqual(shown(null, [true, true, true, true, true]));
  expect(await ask(app, mark, { upTo: day(3) }, sue)).toEqual({
    markFeedRead: { lastRead: day(3), unreadCount: { count: 2 } },
  });
  expect(await ask(app, state, {}, sue)).toEqual(shown(day(3), [true, true, false, false, false]));
  await ask(app, mark, { upTo: day(1) }, sue);
  expect(await ask(app, state, {}, sue)).toEqual(shown(day(3), [true, true, false, false, false]));
});

test.each(['feed(', 'slice(refId: "applicant:mary", '])(
  'pages through %s… in steps that add up to the whole',
  async (field) => {
    interface List {
      readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[];
      readonly pageInfo: Readonly<Record<'hasNextPage' | 'hasPreviousPage', boolean>> &
        Readonly<Record<'startCursor' | 'endCursor', string>>;
    }
    async function page(first: number, after: string | null): Promise<List> {
      const { list } = await ask<{ list: List }>(
        app,
        `query ($first: Int!, $after: String) { list: ${field}first: $first, after: $after) {
        edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      } }`,
        { first, after },
        { sub: 'sue' },
      );
      return list;
    }
    const whole = await page(100, null);
    expect(whole.edges.length).toBe(5);
    expect(whole.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
    for (const first of [1, 2, 3, 5]) {
      const nodes: object[] = [];
      let after: string | null = null;
      for (let pages = 1; ; pages += 1) {
        const { edges, pageInfo }: List = await page(first, after);
        nodes.push(...edges.map(({ node }) => node));
        expect(pageInfo.hasPreviousPage).toBe(after !== null);
        expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]?.cursor, edges.at(-1)?.cursor]);
        after = pageInfo.endCursor;
        expect(pageInfo.hasNextPage).toBe(nodes.length < 5);
        if (!pageInfo.hasNextPage) {
          expect(pages).toBe(Math.ceil(5 / first));
          break;
        }
      }
      expect(nodes).toEqual(whole.edges.map(({ node }) => node));
    }
  },
);

test("answers an application's page in one request, each part under its own name", async () => {
  const answer = await ask(
    app,
    `{
      me: viewer { memberId member { name supervisorId } }
      newest: feed(first: 1) { edges { node { ...Said } } }
      ratings: feed(filter: { types: ["ApplicationRating"] }) { edges { node { ...Said } } }
      mary: slice(refId: "applicant:mary", first: 1) { edges { node { by: actor { name } } } }
      rita: slice(refId: "rita", first: 1) { edges { node { by: actor { name } } } }
    }
    fragment Said on NewsfeedItem { action { descriptor { says: summary } } }`,
    {},
    { sub: 'sue' },
  );
  const said = (says: string) => ({ edges: [{ node: { action: { descriptor: { says } } } }] });
  const by = (name: string) => ({ edges: [{ node: { by: { name } } }] });
  expect(answer).toEqual({
    me: { memberId: 'sue', member: { name: 'Sue Park', supervisorId: null } },
    newest: said(HIRED),
    ratings: said(RATED),
    mary: by('Sue Park'),
    rita: by('Rita Moreau'),
  });
});
