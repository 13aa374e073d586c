import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, expectNoInternals, sendQuery, SERVICE, type BadRequest } from '../support/bad-requests.ts';
import { openRefusalWorld, type RefusalWorld } from '../support/refusal-world.ts';
import { fc } from '../support/fast-check.ts';
import { type Json, spoilt } from '../support/spoilt.ts';
import { repeats } from '../support/seed.ts';

const RUNS = { numRuns: repeats(50) };

let world: RefusalWorld;
beforeAll(async () => {
  world = await openRefusalWorld({ worker: true });
});
afterAll(async () => world[Symbol.asyncDispose]());

const PUBLISH = `mutation ($input: PublishActionInput!) {
  publishAction(input: $input) { isReplay action { id conducted scope isHidden actor { name } refs { label } } }
}`;
const person = { actorId: 'actor', mentions: ['ann'], refs: [{ id: 'site', type: 'site', label: 'Site' }] };
const rating = {
  ...{ raterId: 'actor', raterName: 'Actor', applicantId: 'a', applicantName: 'A', positionId: 'p' },
  ...{ positionName: 'P', ratingScore: 4.5, ratingText: 'Good', tags: ['x'] },
};
const custom = {
  verb: 'v',
  objectType: 'o',
  objectId: 'i',
  targetId: 't',
  data: { a: [1, { b: null }] },
  tags: ['x'],
};

const OPERATIONS: readonly (Pick<BadRequest, 'name' | 'query' | 'as'> & { readonly valid: Json })[] = [
  {
    name: 'publishAction with a rating',
    query: PUBLISH,
    as: SERVICE,
    valid: {
      input: {
        ...person,
        conducted: '2026-01-01T00:00:00Z',
        scope: 'PUBLIC',
        descriptor: { applicationRating: rating },
      },
    },
  },
  {
    name: 'publishAction with free data',
    query: PUBLISH,
    as: SERVICE,
    valid: {
      input: {
        ...person,
        idempotencyKey: 'k',
        scope: 'RESTRICTED',
        recipients: ['bob'],
        descriptor: { custom },
      },
    },
  },
  {
    name: 'feed',
    query: `query ($first: Int, $after: String, $filter: FeedFilter) {
      feed(first: $first, after: $after, filter: $filter) { edges { cursor node { id relevancy } } pageInfo { endCursor } }
    }`,
    valid: {
      first: 10,
      after: null,
      filter: {
        ...{ types: ['Custom'], actorIds: ['actor'], refId: 'site', tags: ['x'], unreadOnly: false },
        ...{ since: '2026-01-01T00:00:00Z', until: '2027-01-01T00:00:00Z' },
      },
    },
  },
  {
    name: 'slice',
    query: `query ($refId: String!, $first: Int, $after: String, $filter: ActionFilter) {
      slice(refId: $refId, first: $first, after: $after, filter: $filter) { edges { cursor node { id } } }
    }`,
    valid: {
      ...{ refId: 'site', first: 10, after: null },
      filter: {
        types: ['Custom'],
        actorIds: ['actor'],
        tags: ['x'],
        since: '2026-01-01T00:00:00Z',
        until: null,
      },
    },
  },
  {
    name: 'follow',
    query: `mutation ($refId: String!, $copyLimit: Int) {
      follow(refId: $refId, copyLimit: $copyLimit) { refId type label followerCount isFollowed }
    }`,
    valid: { refId: 'site', copyLimit: 10 },
  },
];

describe.each(OPERATIONS)('$name', ({ query, as, valid }) => {
  test('never causes an internal error, whatever its variables are', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(spoilt(valid), async (variables) => {
        const answer = await sendQuery(world, {
          query,
          variables: JSON.stringify(variables),
          ...(as === undefined ? {} : { as }),
        });
        expect(answer.status).toBeLessThan(500);
        expect(answer.errors.map(({ extensions }) => extensions?.['code'])).not.toContain(
          'INTERNAL_SERVER_ERROR',
        );
        expect(answer.errors.length > 0 || answer.data !== null).toBe(true);
        if (answer.errors.length > 0) expectNoInternals(answer);
        else accepted += 1;
      }),
      RUNS,
    );
    // Were nothing let through, nothing behind the first check would have been tried.
    expect(accepted).toBeGreaterThan(0);
    expect(world.app.log.filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([]);
  });
});

test('delivers and shows everything that was accepted', async () => {
  await world.app.idle();
  const read = `query ($after: String) { actions(first: 100, after: $after) {
    edges { node { id conducted scope fanOut { state } refs { refId label } descriptor { summary tags ... on CustomDescriptor { data } } } }
    pageInfo { endCursor hasNextPage }
  } }`;
  let after: string | null = null;
  const states = new Set<string>();
  do {
    const answer = await sendQuery(world, { query: read, as: ADMIN, variables: { after } });
    expect(answer.errors).toEqual([]);
    const { edges, pageInfo } = answer.data?.['actions'] as {
      edges: { node: { fanOut: { state: string } } }[];
      pageInfo: { endCursor: string; hasNextPage: boolean };
    };
    for (const { node } of edges) states.add(node.fanOut.state);
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (after !== null);
  expect([...states]).toEqual(['DONE']);
});
