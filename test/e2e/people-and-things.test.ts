import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, upsert } from '../support/feed-api.ts';
import { uniqueName } from '../support/unique-name.ts';

const service = { sub: 'service', roles: ['service'] } as const;
const admin = { sub: 'root', roles: ['admin'] } as const;
const DETAILS = { imageUrl: 'https://images.example/a.png', url: 'https://a.example', data: { n: 1 } };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

const globalId = (type: string, id: string): string => Buffer.from(`${type}:${id}`).toString('base64');

async function describe(site: string, ann: string): Promise<void> {
  await upsert(app, {
    refs: [{ id: site, type: 'site', label: 'Site', ...DETAILS }],
    members: [{ memberId: ann, name: 'Ann', ...DETAILS }],
  });
}

test('shows the thing that the first example of the README names, and nobody has described', async () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const example = /```graphql\n(?<text>mutation[^`]+)```/u.exec(readme)?.groups?.['text'] ?? '';
  const [, id = ''] = /refs: \[\{ id: "(.+?)"/u.exec(example) ?? [];
  await ask(app, example, {}, { sub: 'demo', roles: ['user', 'service', 'admin'] });
  const { ref } = await ask<{ ref: unknown }>(
    app,
    'query ($id: String!) { ref(refId: $id) { type label isFollowed } }',
    { id },
    { sub: 'demo' },
  );
  expect(ref).toEqual({ type: 'applicant', label: 'Mary Fanning', isFollowed: true });
});

test('shows a thing and a person by their ids, and by their global ids', async () => {
  const [site, ann] = [uniqueName('site-'), uniqueName('ann-')];
  await describe(site, ann);
  const document = `query ($site: String!, $ann: String!, $ids: [ID!]!, $id: ID!) {
    ref(refId: $site) { ...Thing } member(memberId: $ann) { ...Person }
    nodes(ids: $ids) { __typename id ...Thing ...Person }
    node(id: $id) { ...Thing }
  }
  fragment Thing on Ref { id refId type label imageUrl url data followerCount isFollowed follow { since } pinned: __typename }
  fragment Person on Member { id memberId name imageUrl url data followerCount isFollowed isMuted }`;
  const ids = [globalId('Ref', site), globalId('Member', ann)];
  const answer = await ask<Record<string, unknown>>(
    app,
    document,
    { site, ann, ids, id: ids[0] },
    { sub: 'bob' },
  );
  const thing = {
    ...{ id: ids[0], refId: site, type: 'site', label: 'Site', ...DETAILS },
    ...{ followerCount: 0, isFollowed: false, follow: null, pinned: 'Ref' },
  };
  const person = {
    ...{ id: ids[1], memberId: ann, name: 'Ann', ...DETAILS },
    ...{ followerCount: 0, isFollowed: false, isMuted: false },
  };
  expect(answer).toEqual({
    ref: thing,
    member: person,
    nodes: [
      { __typename: 'Ref', ...thing },
      { __typename: 'Member', ...person },
    ],
    node: thing,
  });
});

test('returns null for anything that neither the host application nor an action has described', async () => {
  const site = uniqueName('site-');
  const document = `query ($id: String!, $ids: [ID!]!) {
    ref(refId: $id) { refId } member(memberId: $id) { memberId } nodes(ids: $ids) { id }
  }`;
  const variables = { id: site, ids: [globalId('Ref', site), globalId('Member', site)] };
  const nothing = { ref: null, member: null, nodes: [null, null] };
  expect(await ask(app, document, variables, { sub: 'bob' })).toEqual(nothing);
  // Who follows it has its node, though the host application has not said yet what it is.
  await upsert(app, { pairs: [{ followerId: 'bob', refId: site }] });
  const followed = { ...nothing, nodes: [{ id: globalId('Ref', site) }, null] };
  expect(await ask(app, document, variables, { sub: 'bob' })).toEqual(followed);
});

test.each(['ref(refId: $id) { refId }', 'member(memberId: $id) { memberId }'])(
  'rejects an impossible id: %s',
  async (field) => {
    for (const id of ['', 'x'.repeat(257), 'a\u0000b']) {
      const { errors } = await app.query(`query ($id: String!) { ${field} }`, { id }, { sub: 'bob' });
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    }
  },
);

test('rejects details of a ref in an action', async () => {
  const { errors } = await app.query(
    'mutation ($input: PublishActionInput!) { publishAction(input: $input) { isReplay } }',
    {
      input: {
        refs: [{ id: 'x', type: 'site', label: 'X', url: 'https://x.example' }],
        descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } },
      },
    },
    service,
  );
  expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
});

test('shows a viewer how they follow a thing and a person, and whom they mute', async () => {
  const [site, ann, bob] = [uniqueName('site-'), uniqueName('ann-'), uniqueName('bob-')];
  await describe(site, ann);
  const as = { sub: bob };
  const before = Date.now();
  const follow =
    'mutation ($id: String!) { follow(refId: $id, copyLimit: 0) { follow { since types isAssigned } } }';
  const { follow: followed } = await ask<{ follow: { follow: { since: string } } }>(
    app,
    follow,
    { id: site },
    as,
  );
  expect(followed.follow).toMatchObject({ types: null, isAssigned: false });
  // Clocks of the machine and of the database may lie a little apart.
  expect(Math.abs(Date.parse(followed.follow.since) - before)).toBeLessThan(3_600_000);
  await ask(app, follow, { id: ann }, as);
  await ask(
    app,
    'mutation ($id: String!) { addMute(target: { memberId: $id }) { memberId } }',
    { id: ann },
    as,
  );
  const read = `query ($site: String!, $ann: String!) {
    ref(refId: $site) { followerCount isFollowed follow { since } }
    member(memberId: $ann) { followerCount isFollowed isMuted }
  }`;
  expect(await ask(app, read, { site, ann }, as)).toEqual({
    ref: { followerCount: 1, isFollowed: true, follow: { since: followed.follow.since } },
    member: { followerCount: 1, isFollowed: true, isMuted: true },
  });
  const other = { sub: uniqueName('cid-') };
  // Withholds the same, and `Member.isMuted` does not count it.
  await ask(
    app,
    'mutation ($id: String!) { addMute(target: { refId: $id }) { memberId } }',
    { id: ann },
    other,
  );
  expect(await ask(app, read, { site, ann }, other)).toEqual({
    ref: { followerCount: 1, isFollowed: false, follow: null },
    member: { followerCount: 1, isFollowed: false, isMuted: false },
  });
  const changed = `mutation ($id: String!, $types: [String!]) {
    follow(refId: $id, copyLimit: 0, types: $types) { followerCount follow { types } }
  }`;
  const types = ['Posted', 'Liked'];
  expect(await ask(app, changed, { id: site, types }, as)).toMatchObject({
    follow: { followerCount: 1, follow: { types: ['Liked', 'Posted'] } },
  });
  const pairs = [{ followerId: bob, refId: site, isAssigned: true }];
  const sync = 'mutation ($pairs: [FollowInput!]!) { followMany(pairs: $pairs) }';
  await ask(app, sync, { pairs }, service);
  const how = 'query ($site: String!) { ref(refId: $site) { follow { types isAssigned } } }';
  expect(await ask(app, how, { site }, as)).toMatchObject({
    ref: { follow: { types: ['Liked', 'Posted'], isAssigned: true } },
  });
  await ask(app, 'mutation ($id: String!) { unfollow(refId: $id) { refId } }', { id: site }, as);
  expect(await ask(app, read, { site, ann }, as)).toMatchObject({
    ref: { followerCount: 0, isFollowed: false, follow: null },
  });
});

interface FollowersAnswer {
  readonly ref: {
    readonly followers: {
      readonly edges: readonly { readonly node: { readonly memberId: string; readonly name: string } }[];
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    };
  };
}

const FOLLOWERS = `query ($id: String!, $first: Int, $after: String) { ref(refId: $id) {
  followers(first: $first, after: $after) { edges { cursor node { memberId name } } pageInfo { hasNextPage endCursor } }
} }`;

test("lists a thing's current followers for admins and services, in pages, in order of id", async () => {
  const [site, other] = [uniqueName('site-'), uniqueName('other-')];
  const ids = Array.from({ length: 7 }, (_, n) => `${site}-f${String(n)}`);
  await upsert(app, {
    refs: [site, other].map((id) => ({ id, type: 'site', label: id })),
    members: ids.slice(0, 2).map((memberId) => ({ memberId, name: 'Known' })),
    pairs: [...ids, 'left'].flatMap((followerId) => [
      { followerId, refId: site },
      { followerId, refId: other },
    ]),
  });
  await ask(app, 'mutation ($id: String!) { unfollow(refId: $id) { refId } }', { id: site }, { sub: 'left' });
  for (const as of [admin, service]) {
    const shown: string[] = [];
    let after: string | null = null;
    do {
      const page: FollowersAnswer = await ask(app, FOLLOWERS, { id: site, first: 3, after }, as);
      const { edges, pageInfo } = page.ref.followers;
      shown.push(...edges.map(({ node }) => node.memberId));
      expect(edges[0]?.node.name).toBe(shown.length <= 3 ? 'Known' : edges[0]?.node.memberId);
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    } while (after !== null);
    expect(shown).toEqual(ids);
  }
});

test("rejects the list for everybody else, and with another list's cursor", async () => {
  const [site, other] = [uniqueName('site-'), uniqueName('other-')];
  await upsert(app, {
    refs: [site, other].map((id) => ({ id, type: 'site', label: id })),
    pairs: ['a', 'b', 'c'].flatMap((followerId) => [site, other].map((refId) => ({ followerId, refId }))),
  });
  const { errors } = await app.query(FOLLOWERS, { id: site }, { sub: 'a' });
  expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
  const page = await ask<FollowersAnswer>(app, FOLLOWERS, { id: other, first: 1 }, admin);
  const after = page.ref.followers.pageInfo.endCursor;
  for (const [variables, code] of [
    [{ id: site, after }, 'BAD_CURSOR'],
    [{ id: site, after: 'x' }, 'BAD_CURSOR'],
    [{ id: site, first: 0 }, 'BAD_USER_INPUT'],
    [{ id: site, first: 101 }, 'BAD_USER_INPUT'],
  ] as const)
    expect((await app.query(FOLLOWERS, variables, admin)).errors).toMatchObject([{ extensions: { code } }]);
});
