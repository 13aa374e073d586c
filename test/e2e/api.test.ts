import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/telemetry/logger.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { commandsOf, withoutClockReads } from '../support/commands.ts';
import { openGreetedSocket } from '../support/socket.ts';
import { startTestHttp } from '../support/http.ts';

const service = { sub: 'service', roles: ['service'] as const };
const admin = { sub: 'admin', roles: ['admin'] as const };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  const setup = `mutation {
    upsertMembers(members: [
      { memberId: "reader", name: "Rita", teamId: "t1" }, { memberId: "bob", name: "Bob", supervisorId: "reader" }
    ])
    upsertRefs(refs: [{ id: "r1", type: "applicant", label: "Mary" }])
  }`;
  expect(await app.query(setup, {}, service)).toMatchObject({
    data: { upsertMembers: 2, upsertRefs: 1 },
    errors: [],
  });
});
afterAll(async () => app[Symbol.asyncDispose]());

const globalId = (text: string): string => Buffer.from(text).toString('base64');

const PUBLISH =
  'mutation ($input: PublishActionInput!) { publishAction(input: $input) { isReplay action { id } } }';

/** Publishes as the service and gives the global id. */
async function publish(input: object): Promise<string> {
  const note = { custom: { verb: 'wrote', objectType: 'note', objectId: 'n1' } };
  const answer = await app.query<{ publishAction: { action: { id: string } } }>(
    PUBLISH,
    { input: { actorId: 'bob', scope: 'PUBLIC', descriptor: note, ...input } },
    service,
  );
  expect(answer.errors).toEqual([]);
  return answer.data?.publishAction.action.id ?? '';
}

describe('actions', () => {
  const ACTION = `query ($id: ID!) { action(id: $id) {
    id conducted scope isHidden
    actor { id memberId name teamId supervisorId }
    refs { refId type label followerCount isFollowed }
    engagement { comments likes reshares lastInteraction }
    fanOut { state version attempts delivered pulled error }
    descriptor { __typename type summary tags ... on ApplicationRatingDescriptor { raterName ratingScore ratingText } }
  } }`;

  test('have all their fields', async () => {
    const id = await publish({
      conducted: '2014-02-10T10:50:42Z',
      refs: [{ id: 'r1', type: 'old type', label: 'old label' }],
      descriptor: {
        applicationRating: {
          raterId: 'bob',
          raterName: 'Bob',
          applicantId: 'r1',
          applicantName: 'Mary Fanning',
          positionId: 'p1',
          positionName: 'Engineer',
          ratingScore: 4.5,
          tags: ['skilled'],
        },
      },
    });
    await app.idle();
    const { data } = await app.query(ACTION, { id }, service);
    expect(data).toEqual({
      action: {
        id,
        conducted: '2014-02-10T10:50:42.000Z',
        scope: 'PUBLIC',
        isHidden: false,
        actor: {
          id: globalId('Member:bob'),
          memberId: 'bob',
          name: 'Bob',
          teamId: null,
          supervisorId: 'reader',
        },
        refs: [{ refId: 'r1', type: 'applicant', label: 'Mary', followerCount: 0, isFollowed: false }],
        engagement: { comments: 0, likes: 0, reshares: 0, lastInteraction: null },
        fanOut: { state: 'DONE', version: 1, attempts: 1, delivered: 0, pulled: false, error: null },
        descriptor: {
          __typename: 'ApplicationRatingDescriptor',
          type: 'ApplicationRating',
          summary: 'Bob rated Mary 4.5 for Engineer',
          tags: ['skilled'],
          raterName: 'Bob',
          ratingScore: 4.5,
          ratingText: null,
        },
      },
    });
  });

  test('are the same however often they are requested', async () => {
    const id = await publish({ refs: [{ id: 'r1', type: 'applicant', label: 'old label' }] });
    const page = `query Often($id: ID!, $after: String) {
      action(id: $id) { id conducted actor { name } refs { label } descriptor { __typename summary } fanOut { state } }
      node(id: $id) { __typename ... on Action { id scope engagement { likes lastInteraction } } }
      slice(refId: "r1", first: 2, after: $after) { edges { node { id isHidden } } pageInfo { hasNextPage } }
    }`;
    await app.idle();
    for (const variables of [{ id }, { id, after: 'no cursor' }, { id: 'no id' }, { id: [id] }]) {
      const first = await app.query(page, variables, admin);
      // More often than it has fields: what comes again and again is compiled.
      for (let run = 0; run < 30; run++) expect(await app.query(page, variables, admin)).toEqual(first);
    }
  });

  test('show ids or labels for actors and refs that were never described', async () => {
    const id = await publish({ actorId: 'stranger', refs: [{ id: 'r9', type: 'site', label: 'A site' }] });
    await app.idle();
    await app.app.database.db.collection('refs').deleteOne({ _id: 'r9' as unknown as ObjectId });
    const { data } = await app.query(ACTION, { id }, service);
    expect(data).toMatchObject({
      action: {
        actor: { memberId: 'stranger', name: 'stranger', teamId: null },
        refs: [{ refId: 'r9', type: 'site', label: 'A site', followerCount: 0 }],
      },
    });
  });

  test('show their fan-out to admins and services only', async () => {
    const id = await publish({});
    const fanOut = 'query ($id: ID!) { action(id: $id) { fanOut { version } } }';
    for (const as of [service, admin])
      expect(await app.query(fanOut, { id }, as)).toMatchObject({
        data: { action: { fanOut: { version: 1 } } },
      });
    expect(await app.query(fanOut, { id })).toMatchObject({ data: { action: { fanOut: null } }, errors: [] });
  });

  test.each([
    ['a type that is no longer there', { type: 'Retired', tags: ['a'], who: 'x' }, 'Retired'],
    ['a body that no longer fits its type', { type: 'NewApplicant', tags: ['a'], who: 'x' }, 'NewApplicant'],
  ])('are served even if the descriptor has %s', async (_what, descriptor, type) => {
    const id = await publish({ refs: [{ id: `page ${type}`, type: 't', label: 'l' }] });
    await publish({ refs: [{ id: `page ${type}`, type: 't', label: 'l' }] });
    const hex = Buffer.from(id, 'base64').toString().slice('Action:'.length);
    await app.app.database.db
      .collection('actions')
      .updateOne({ _id: new ObjectId(hex) }, { $set: { descriptor } });
    const slice = `query ($ref: String!) { slice(refId: $ref) { edges { node { descriptor {
      __typename type summary tags ... on UnknownDescriptor { data }
    } } } } }`;
    const { data, errors } = await app.query(slice, { ref: `page ${type}` });
    expect(errors).toEqual([]);
    expect(data).toMatchObject({
      slice: {
        edges: [
          { node: { descriptor: { __typename: 'CustomDescriptor' } } },
          {
            node: {
              descriptor: {
                __typename: 'UnknownDescriptor',
                type,
                summary: type,
                tags: ['a'],
                data: { who: 'x' },
              },
            },
          },
        ],
      },
    });
  });

  test('return free data unchanged', async () => {
    const data = { a: [1, 2.5, null, true, { b: 'ü' }], '': 'empty', nested: { deep: [[]] } };
    const id = await publish({ descriptor: { custom: { verb: 'v', objectType: 't', objectId: 'o', data } } });
    const query = 'query ($id: ID!) { action(id: $id) { descriptor { ... on CustomDescriptor { data } } } }';
    expect(await app.query(query, { id })).toMatchObject({ data: { action: { descriptor: { data } } } });
  });

  test('accept free data in the document, with variables in it', async () => {
    const query = `mutation ($n: Int!) { publishAction(input: { descriptor: { custom: {
      verb: "v", objectType: "t", objectId: "o", data: { list: [1, "two", $n], flag: true, none: null }
    } } }) { action { descriptor { ... on CustomDescriptor { data } } } } }`;
    expect(await app.query(query, { n: 3 })).toMatchObject({
      data: {
        publishAction: { action: { descriptor: { data: { list: [1, 'two', 3], flag: true, none: null } } } },
      },
    });
  });

  test('are listed by fan-out state for admins', async () => {
    await publish({});
    await app.idle();
    const list =
      '{ actions(fanOutState: DONE, first: 2) { pageInfo { hasNextPage } edges { node { fanOut { state } } } } }';
    const { data } = await app.query<{ actions: { edges: unknown[] } }>(list, {}, admin);
    expect(data?.actions.edges[0]).toEqual({ node: { fanOut: { state: 'DONE' } } });
    expect((await app.query(list)).errors[0]?.extensions.code).toBe('FORBIDDEN');
  });

  test('are published in batches, each on its own', async () => {
    const inputs = [
      { descriptor: { custom: { verb: 'v', objectType: 't', objectId: 'o' } }, idempotencyKey: 'once' },
      { descriptor: { custom: { verb: '', objectType: 't', objectId: 'o' } } },
      { descriptor: { custom: { verb: 'v', objectType: 't', objectId: 'o' } }, idempotencyKey: 'once' },
    ];
    const query = `mutation ($inputs: [PublishActionInput!]!) {
      publishActions(inputs: $inputs) { isReplay action { actor { name } } error { code message } }
    }`;
    expect((await app.query(query, { inputs })).data).toEqual({
      publishActions: [
        { isReplay: false, action: { actor: { name: 'Rita' } }, error: null },
        {
          isReplay: false,
          action: null,
          error: { code: 'BAD_USER_INPUT', message: expect.any(String) as unknown },
        },
        { isReplay: true, action: { actor: { name: 'Rita' } }, error: null },
      ],
    });
  });

  test('require exactly one descriptor', async () => {
    const custom = { verb: 'v', objectType: 't', objectId: 'o' };
    for (const descriptor of [{}, { custom: null }, { custom, newApplicant: custom }])
      expect((await app.query(PUBLISH, { input: { descriptor } })).errors[0]?.extensions.code).toBe(
        'BAD_USER_INPUT',
      );
  });

  test('report all faults of an input together, each with its path', async () => {
    const custom = { verb: '', objectType: '', objectId: 'o' };
    const { errors } = await app.query(PUBLISH, { input: { descriptor: { custom } } });
    const issues = (errors[0]?.extensions as unknown as { issues: { path: string[] }[] }).issues;
    expect(issues.map(({ path }) => path.at(-1)).sort()).toEqual(['objectType', 'verb']);
  });
});

describe('nodes', () => {
  const NODES = `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id
    ... on Member { name } ... on NewsfeedItem { relevancy action { id } } } }`;

  test('are found by their global ids, in order', async () => {
    const action = await publish({ scope: 'RESTRICTED', recipients: ['reader'] });
    await app.idle();
    const hex = Buffer.from(action, 'base64').toString().slice('Action:'.length);
    const item = globalId(`NewsfeedItem:reader:${hex}`);
    const { data, errors } = await app.query(NODES, { ids: [globalId('Member:bob'), item, action, item] });
    expect(errors).toEqual([]);
    const expected = { __typename: 'NewsfeedItem', id: item, action: { id: action } };
    expect(data).toMatchObject({
      nodes: [
        { __typename: 'Member', name: 'Bob' },
        expected,
        { __typename: 'Action', id: action },
        expected,
      ],
    });
  });

  test('are null if they do not exist or the viewer may not see them', async () => {
    const action = await publish({ scope: 'RESTRICTED', recipients: ['somebody'] });
    await app.idle();
    const hex = Buffer.from(action, 'base64').toString().slice('Action:'.length);
    const ids = [
      action,
      globalId(`NewsfeedItem:reader:${hex}`),
      globalId(`NewsfeedItem:somebody:${hex}`),
      globalId('Member:nobody'),
      globalId('Action:000000000000000000000000'),
      globalId('Spaceship:1'),
    ];
    expect(await app.query(NODES, { ids })).toMatchObject({
      data: { nodes: ids.map(() => null) },
      errors: [],
    });
    const one = await app.query('query ($id: ID!) { node(id: $id) { id } action(id: $id) { id } }', {
      id: action,
    });
    expect(one).toMatchObject({ data: { node: null, action: null }, errors: [] });
  });

  test.each([
    '',
    'x',
    'Action:000000000000000000000000',
    globalId('Action:xyz'),
    globalId('Action:'),
    globalId('nothing'),
    globalId('Action:00000000000000000000000A'),
    globalId('NewsfeedItem:000000000000000000000000'),
    globalId('Member:bob').replace(/=+$/, ''),
    `${globalId('Member:bob')} `,
    '/w==',
  ])('are null for "%s", which is not a global id; node rejects it', async (id) => {
    const { data, errors } = await app.query(NODES, { ids: [id, globalId('Member:bob')] });
    expect(errors).toEqual([]);
    expect(data).toMatchObject({ nodes: [null, { name: 'Bob' }] });
    const one = await app.query('query ($id: ID!) { node(id: $id) { id } }', { id });
    expect(one.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  test('reject the id of another type where an action is expected', async () => {
    const { errors } = await app.query('{ action(id: "TWVtYmVyOmJvYg==") { id } }');
    expect(errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });
});

describe('the feed', () => {
  const FEED = `query ($first: Int, $after: String) { feed(first: $first, after: $after) {
    state unread { count isExact }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node { id relevancy reasons isUnread action { id } } }
  } }`;
  interface Feed {
    readonly feed: {
      readonly unread: { readonly count: number; readonly isExact: boolean };
      readonly pageInfo: {
        readonly hasNextPage: boolean;
        readonly hasPreviousPage: boolean;
        readonly startCursor: string | null;
        readonly endCursor: string | null;
      };
      readonly edges: readonly {
        readonly cursor: string;
        readonly node: {
          readonly relevancy: string;
          readonly isUnread: boolean;
          readonly action: { readonly id: string };
        };
      }[];
    };
  }
  const paul = { sub: 'paul' };

  test('is paged, counted and marked as read', async () => {
    const ids = [];
    for (let n = 0; n < 3; n += 1) ids.unshift(await publish({ scope: 'RESTRICTED', recipients: ['paul'] }));
    await app.idle();
    const all = (await app.query<Feed>(FEED, {}, paul)).data?.feed;
    expect(all?.edges.map(({ node }) => node.action.id)).toEqual(ids);
    expect(all?.unread).toEqual({ count: 3, isExact: true });
    expect(all?.pageInfo).toEqual({
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: all?.edges[0]?.cursor,
      endCursor: all?.edges[2]?.cursor,
    });

    const first = (await app.query<Feed>(FEED, { first: 2 }, paul)).data?.feed;
    expect(first?.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const second = (await app.query<Feed>(FEED, { first: 2, after: first?.pageInfo.endCursor }, paul)).data
      ?.feed;
    expect(second?.edges.map(({ node }) => node.action.id)).toEqual(ids.slice(2));
    expect(second?.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });

    const mark =
      'mutation ($upTo: DateTime!) { markFeedRead(upTo: $upTo) { memberId lastRead unreadCount { count } } }';
    const upTo = all?.edges[1]?.node.relevancy;
    expect((await app.query(mark, { upTo }, paul)).data).toEqual({
      markFeedRead: { memberId: 'paul', lastRead: upTo, unreadCount: { count: 1 } },
    });
    const after = (await app.query<Feed>(FEED, {}, paul)).data?.feed;
    expect(after?.edges.map(({ node }) => node.isUnread)).toEqual([true, false, false]);
  });

  test('is empty for a new reader', async () => {
    expect((await app.query<Feed>(FEED, {}, { sub: 'nobody' })).data?.feed).toEqual({
      state: 'READY',
      unread: { count: 0, isExact: true },
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
      edges: [],
    });
  });

  test.each(['x', '', 'AAAA', 'ARntywg4bkJ6H9e1L6AAawFnQJbdgUKA2JA7Qnof17VPcAA!'])(
    'rejects the cursor "%s"',
    async (after) => {
      expect((await app.query(FEED, { after })).errors[0]?.extensions.code).toBe('BAD_CURSOR');
    },
  );
});

describe('the viewer', () => {
  test('is the member of the token, with their follows', async () => {
    const anna = { sub: 'anna' };
    const follow = await app.query(
      'mutation { follow(refId: "r1") { refId type label followerCount isFollowed } }',
      {},
      anna,
    );
    expect(follow.data).toEqual({
      follow: { refId: 'r1', type: 'applicant', label: 'Mary', followerCount: 1, isFollowed: true },
    });
    await app.query('mutation { follow(refId: "unheard of") { refId } }', {}, anna);
    const query = `{ viewer { memberId member { name } lastRead mutes { id } following(first: 1) {
      pageInfo { hasNextPage endCursor } edges { cursor node { refId type label isFollowed } }
    } } }`;
    const { data, errors } = await app.query(query, {}, anna);
    expect(errors).toEqual([]);
    expect(data).toMatchObject({
      viewer: {
        memberId: 'anna',
        member: null,
        lastRead: null,
        mutes: [],
        following: { pageInfo: { hasNextPage: true } },
      },
    });
    const rest = await app.query(
      '{ viewer { following { edges { node { refId type label isFollowed } } } } }',
      {},
      anna,
    );
    expect(rest.data).toEqual({
      viewer: {
        following: {
          edges: [
            { node: { refId: 'r1', type: 'applicant', label: 'Mary', isFollowed: true } },
            { node: { refId: 'unheard of', type: 'unknown', label: 'unheard of', isFollowed: true } },
          ],
        },
      },
    });
  });

  test('gets follows from a service', async () => {
    const pairs = [{ followerId: 'zoe', refId: 'r2' }];
    const query = 'mutation ($pairs: [FollowInput!]!) { followMany(pairs: $pairs) }';
    expect((await app.query(query, { pairs }, service)).data).toEqual({ followMany: 1 });
    expect((await app.query(query, { pairs })).errors[0]?.extensions.code).toBe('FORBIDDEN');
  });
});

describe('live events', () => {
  test('show the state at sending, not what an earlier event loaded', async () => {
    await using socket = await openGreetedSocket(app.wsUrl, await app.token('watcher'));
    const query = `subscription { feedEvents { __typename cursor
      ... on FeedItemAdded { item { action { actor { name } } } } } }`;
    socket.send({ type: 'subscribe', id: '1', payload: { query } });
    expect(await socket.next()).toMatchObject({
      payload: { data: { feedEvents: { __typename: 'FeedReady' } } },
    });
    const rename =
      'mutation ($name: String!) { upsertMembers(members: [{ memberId: "carl", name: $name }]) }';
    for (const name of ['Carl', 'Charles']) {
      await app.query(rename, { name }, service);
      await publish({ actorId: 'carl', scope: 'RESTRICTED', recipients: ['watcher'] });
      expect(await socket.next()).toMatchObject({
        payload: {
          data: { feedEvents: { __typename: 'FeedItemAdded', item: { action: { actor: { name } } } } },
        },
      });
    }
  });
});

describe('internal errors', () => {
  test('tell the client only an id, under which they are logged', async () => {
    const lines: object[] = [];
    const error = (fields: object): void => void lines.push(fields);
    await using server = await startTestHttp(app, {
      core: {
        ...app.core,
        feedReader: {
          ...app.core.feedReader,
          page: () => Promise.reject(new Error('The password is hunter2')),
        },
      },
      logger: { ...silentLogger(), error },
    });
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await app.token('reader')}` },
      body: JSON.stringify({ query: '{ viewer { memberId } feed { state } }' }),
    });
    const text = await response.text();
    expect(text).not.toContain('hunter2');
    const { errors } = JSON.parse(text) as { errors: { extensions: { errorId: string } }[] };
    expect(errors).toEqual([
      {
        message: 'Internal server error',
        locations: [{ line: 1, column: 23 }],
        path: ['feed'],
        extensions: { code: 'INTERNAL_SERVER_ERROR', errorId: expect.any(String) as unknown },
      },
    ]);
    expect(lines).toMatchObject([
      { errorId: errors[0]?.extensions.errorId, err: { message: 'The password is hunter2' } },
    ]);
  });
});

describe('a field that is not selected', () => {
  /** Names of the collections that a query reads. */
  async function read(counted: TestApp, query: string): Promise<string[]> {
    const commands = await commandsOf(counted.app.database, async () => {
      expect((await counted.query(query, {}, { sub: 'reader' })).errors).toEqual([]);
    });
    return withoutClockReads(commands)
      .map(({ collection }) => collection)
      .sort();
  }

  test('costs nothing', async () => {
    // What a process holds would depend on what was read before.
    const env = { READ_CACHE: '0KiB' };
    await using counted = await startTestApp({ monitorCommands: true, worker: false, env });
    await counted.query('mutation { upsertRefs(refs: [{ id: "r1", type: "t", label: "l" }]) }', {}, service);
    const input = {
      scope: 'RESTRICTED',
      recipients: ['reader'],
      refs: [{ id: 'r1', type: 't', label: 'l' }],
      descriptor: { custom: { verb: 'v', objectType: 't', objectId: 'o' } },
    };
    for (let n = 0; n < 3; n += 1)
      await counted.query(PUBLISH, { input: { ...input, actorId: `actor ${String(n)}` } }, service);
    {
      // It looks for work as long as it runs.
      await using worker = await startTestApp({ api: false, database: counted.database });
      await worker.idle();
    }
    const bareQuery =
      '{ feed { edges { node { action { conducted actor { memberId } refs { refId } } } } } }';
    // The first read of a reader notes that they are there.
    await read(counted, bareQuery);
    const bare = await read(counted, bareQuery);
    expect(bare).not.toContain('refs');
    expect(bare).not.toContain('follows');
    const more = async (fields: string): Promise<string[]> => {
      const collections = await read(counted, `{ feed { ${fields} } }`);
      for (const name of bare) {
        const at = collections.indexOf(name);
        if (at !== -1) collections.splice(at, 1);
      }
      return collections;
    };
    expect(await more('edges { node { action { conducted actor { name } } } }')).toEqual(['members']);
    expect(await more('edges { node { action { refs { label type followerCount } } } }')).toEqual(['refs']);
    expect(await more('edges { node { action { refs { isFollowed } } } }')).toEqual(['follows']);
  });
});
