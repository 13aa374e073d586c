import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, expectNoInternals, sendQuery, SERVICE, type BadRequest } from '../support/bad-requests.ts';
import { openRefusalWorld, type RefusalWorld } from '../support/refusal-world.ts';
import { fc } from '../support/fast-check.ts';
import { repeats } from '../support/seed.ts';

const RUNS = { numRuns: repeats(50) };

let world: RefusalWorld;
beforeAll(async () => {
  world = await openRefusalWorld({ worker: true });
});
afterAll(async () => world[Symbol.asyncDispose]());

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Any sequence of UTF-16 units, halves of characters among them. */
const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
});
const MEANT_BADLY: readonly Json[] = [
  ...['', '\u0000', '\ud800', '__proto__', 'constructor', '$where', 'a.b', '-1', 'NaN', 'null', ' '],
  ...['2026-02-30T00:00:00Z', '0000-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '9'.repeat(400)],
  ...[-1, 0, -0, 1e308, 5e-324, 2 ** 31, 2 ** 53, 101, 0.1],
  ...[{ $gt: '' }, { $oid: '0123456789abcdef01234567' }, { $date: 0 }, [[]], [null], [{}]],
];
const anything: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(...MEANT_BADLY),
  anyText,
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as Json),
);

type Path = readonly string[];

function pathsOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))];
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function replaced(value: Json, [name, ...rest]: Path, by: Json): Json {
  if (name === undefined || typeof value !== 'object' || value === null) return by;
  if (isList(value)) return value.map((inner, n) => (String(n) === name ? replaced(inner, rest, by) : inner));
  return { ...value, [name]: replaced(value[name] ?? null, rest, by) };
}

/** What is valid, with one to three of its values exchanged; now and then nothing of it is left. */
function spoilt(valid: Json): fc.Arbitrary<Json> {
  const change = fc.tuple(fc.constantFrom(...pathsOf(valid)), anything);
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce((value, [path, by]) => replaced(value, path, by), valid));
}

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
