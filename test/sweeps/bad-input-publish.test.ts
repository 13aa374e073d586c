import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ADMIN,
  contents,
  expectRefusal,
  sendQuery,
  SERVICE,
  type BadRequest,
} from '../support/bad-requests.ts';
import { openRefusalWorld, type RefusalWorld } from '../support/refusal-world.ts';

const PUBLISH = 'mutation ($input: PublishActionInput!) { publishAction(input: $input) { action { id } } }';
const PUBLISH_MANY = `mutation ($inputs: [PublishActionInput!]!) {
  publishActions(inputs: $inputs) { action { id } error { code message } }
}`;
const LONG = 'x'.repeat(60_000);
const FULL = { verb: 'posted', objectType: 'post', objectId: 'p' };
const RATING = {
  ...{ raterId: 'actor', raterName: 'Actor', applicantId: 'a', applicantName: 'Mary Fanning' },
  ...{ positionId: 'p', positionName: 'Engineer', ratingScore: 4.5 },
};
const VALID = { actorId: 'actor', descriptor: { custom: FULL } };

let world: RefusalWorld;
beforeAll(async () => {
  world = await openRefusalWorld({ env: { BODY_LIMIT: '4MiB' } });
});
afterAll(async () => world[Symbol.asyncDispose]());

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `m${String(n)}`);
}

/** An input that is valid but for what is given. */
function publish(name: string, more: object, says: RegExp): BadRequest {
  return { name, says, query: PUBLISH, as: SERVICE, variables: { input: { ...VALID, ...more } } };
}

function custom(name: string, more: object, says: RegExp): BadRequest {
  return publish(name, { descriptor: { custom: { ...FULL, ...more } } }, says);
}

function rating(name: string, more: object, says: RegExp): BadRequest {
  return publish(name, { descriptor: { applicationRating: { ...RATING, ...more } } }, says);
}

/** Data as JSON text, for what no object of ours could be turned into. */
function rawData(name: string, data: string, says: RegExp): BadRequest {
  const variables = `{"input":{"actorId":"actor","descriptor":{"custom":{"verb":"v","objectType":"o","objectId":"i","data":${data}}}}}`;
  return { name, says, query: PUBLISH, as: SERVICE, variables };
}

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

const descriptors: readonly BadRequest[] = [
  publish('no descriptor', { descriptor: undefined }, /descriptor/),
  publish('a descriptor of nothing', { descriptor: {} }, /exactly one key/i),
  publish('two descriptors', { descriptor: { custom: FULL, applicationRating: RATING } }, /exactly one key/i),
  publish('a descriptor that is null', { descriptor: { custom: null } }, /must be non-null/i),
  publish('an unknown descriptor', { descriptor: { unheardOf: {} } }, /unheardOf/),
  publish('a descriptor that is text', { descriptor: 'custom' }, /DescriptorInput/),
  custom('an unknown descriptor field', { surplus: 1 }, /surplus/),
  publish('a missing descriptor field', { descriptor: { custom: { verb: 'v' } } }, /object(?:Type|Id)/),
  custom('an empty verb', { verb: '' }, /verb: Must not be empty/),
  custom('a verb of 65 characters', { verb: 'v'.repeat(65) }, /verb: Must be at most 64/),
  custom('60 KB as verb', { verb: LONG }, /verb: Must be at most 64/),
  custom('an empty object id', { objectId: '' }, /objectId: Must not be empty/),
  custom('an object id of 257 characters', { objectId: 'x'.repeat(257) }, /objectId: Must be at most 256/),
  custom('an object id with a line break', { objectId: 'a\nb' }, /objectId: Must not contain control/),
  custom('an operator as object id', { objectId: { $gt: '' } }, /String cannot represent/),
  custom('a number as object id', { objectId: 7 }, /String cannot represent/),
  rating('a score that is text', { ratingScore: '4.5' }, /Float cannot represent/),
  rating('a score below the scale', { ratingScore: -0.1 }, /ratingScore/),
  rating('a score above the scale', { ratingScore: 100.1 }, /ratingScore/),
  rating('a name with NUL', { applicantName: 'Mary\u0000' }, /applicantName: Must not contain NUL/),
  rating('a name with a lone surrogate', { raterName: '\ud800' }, /raterName: Must be well-formed/),
  rating('a name of 513 characters', { raterName: 'x'.repeat(513) }, /raterName: Must be at most 512/),
  rating('a text of 8193 characters', { ratingText: 'x'.repeat(8_193) }, /ratingText: Must be at most 8192/),
  rating('60 KB as text', { ratingText: LONG }, /ratingText: Must be at most 8192/),
  custom('33 tags', { tags: numbered(33) }, /tags: Must have at most 32/),
  custom('an empty tag', { tags: ['a', ''] }, /tags\.1: Must not be empty/),
  custom('a tag that is null', { tags: [null] }, /tags/),
  custom('a tag with a lone surrogate', { tags: ['\udc00'] }, /tags\.0: Must be well-formed/),
];

const data: readonly BadRequest[] = [
  custom('16 KiB and a byte of data', { data: 'x'.repeat(16 * 1024 - 1) }, /at most 16384 bytes/),
  custom('16 KiB of data in fewer characters', { data: 'ä'.repeat(8 * 1024) }, /at most 16384 bytes/),
  custom('60 KB of data', { data: LONG }, /at most 16384 bytes/),
  custom('an operator in data', { data: { $gt: '' } }, /begin with "\$"/),
  custom('an operator deep in data', { data: [{ a: { $where: '1' } }] }, /begin with "\$"/),
  custom('a lone surrogate in data', { data: { a: ['\ud800'] } }, /data\.a\.0: Must be well-formed/),
  custom('NUL in a property name of data', { data: { 'a\u0000b': 1 } }, /property names/),
  rawData('a prototype in data', '{"__proto__":{"isAdmin":true}}', /__proto__/),
  rawData('a prototype deep in data', '[{"a":{"__proto__":null}}]', /__proto__/),
  rawData('infinite numbers in data', '[1e999]', /finite/),
  rawData('20 levels of data', '['.repeat(20) + ']'.repeat(20), /16 levels deep/),
  rawData('1000 levels of data', '['.repeat(1_000) + ']'.repeat(1_000), /32 levels deep/),
  rawData('200,000 levels of data', '['.repeat(200_000) + ']'.repeat(200_000), /32 levels deep/),
  rawData('100,000 levels of objects', '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000), /32 levels deep/),
];

const people: readonly BadRequest[] = [
  publish('an empty actor', { actorId: '' }, /actorId: Must not be empty/),
  publish('an actor of 257 characters', { actorId: 'x'.repeat(257) }, /actorId: Must be at most 256/),
  publish('60 KB as actor', { actorId: LONG }, /actorId: Must be at most 256/),
  publish('an operator as actor', { actorId: { $gt: '' } }, /String cannot represent/),
  publish('a list as actor', { actorId: ['actor'] }, /String cannot represent/),
  publish('1001 mentions', { mentions: numbered(1_001) }, /mentions: Must have at most 1000/),
  publish('a mention with NUL', { mentions: ['\u0000'] }, /mentions\.0: Must not contain control/),
  publish('a mention that is null', { mentions: ['ann', null] }, /mentions/),
  publish('RESTRICTED without recipients', { scope: 'RESTRICTED' }, /recipients: Must name/),
  publish('RESTRICTED to nobody', { scope: 'RESTRICTED', recipients: [] }, /recipients: Must name/),
  publish(
    'RESTRICTED to 1001 recipients',
    { scope: 'RESTRICTED', recipients: numbered(1_001) },
    /recipients: Must have at most 1000/,
  ),
  ...['TEAM', 'DEPARTMENT', 'FOLLOWERS', 'PUBLIC'].map((scope) =>
    publish(`recipients of a ${scope} action`, { scope, recipients: ['ann'] }, /recipients: Must be omitted/),
  ),
  publish('TEAM by an actor without one', { actorId: 'lone', scope: 'TEAM' }, /has no team/),
  publish(
    'DEPARTMENT by an actor without one',
    { actorId: 'lone', scope: 'DEPARTMENT' },
    /has no department/,
  ),
  publish('TEAM by an unknown actor', { actorId: 'nobody', scope: 'TEAM' }, /has no team/),
  publish('an unknown scope', { scope: 'EVERYBODY' }, /EVERYBODY/),
  publish('a scope in small letters', { scope: 'public' }, /"public"/),
  publish('a number as scope', { scope: 7 }, /Scope/),
];

const others: readonly BadRequest[] = [
  publish('a time six minutes ahead', { conducted: inDays(1 / 240) }, /conducted|five minutes/),
  publish('the year 9999', { conducted: '9999-12-31T23:59:59.999Z' }, /five minutes/),
  publish('30 February', { conducted: '2026-02-30T00:00:00Z' }, /DateTime must be/),
  publish('a time without a zone', { conducted: '2026-01-01T00:00:00' }, /DateTime must be/),
  publish('a time of another zone', { conducted: '2026-01-01T00:00:00+01:00' }, /DateTime must be/),
  publish('a day without a time', { conducted: '2026-01-01' }, /DateTime must be/),
  publish('a time as number', { conducted: 1_767_225_600_000 }, /DateTime must be/),
  publish('the year 10000', { conducted: '+010000-01-01T00:00:00.000Z' }, /DateTime must be/),
  publish('"now" as time', { conducted: 'now' }, /DateTime must be/),
  publish(
    'a time as driver would write it',
    { conducted: { $date: '2026-01-01T00:00:00Z' } },
    /DateTime must be/,
  ),
  publish('an empty idempotency key', { idempotencyKey: '' }, /idempotencyKey: Must not be empty/),
  publish(
    'an idempotency key of 257',
    { idempotencyKey: 'k'.repeat(257) },
    /idempotencyKey: Must be at most/,
  ),
  publish('an operator as idempotency key', { idempotencyKey: { $ne: null } }, /String cannot represent/),
  publish(
    '101 refs',
    { refs: numbered(101).map((id) => ({ id, type: 't', label: 'l' })) },
    /refs: Must have at/,
  ),
  publish('a ref without an id', { refs: [{ type: 't', label: 'l' }] }, /"?id"?/),
  publish(
    'a ref with an empty id',
    { refs: [{ id: '', type: 't', label: 'l' }] },
    /refs\.0\.id: Must not be/,
  ),
  publish(
    'a ref with an empty type',
    { refs: [{ id: 'r', type: '', label: 'l' }] },
    /refs\.0\.type: Must not/,
  ),
  publish(
    'a label with NUL',
    { refs: [{ id: 'r', type: 't', label: '\u0000' }] },
    /refs\.0\.label: Must not/,
  ),
  publish('an unknown field of a ref', { refs: [{ id: 'r', type: 't', label: 'l', $set: {} }] }, /\$set/),
  publish('an unknown field of the input', { isHidden: true }, /isHidden/),
  publish('a constructor in the input', { constructor: { prototype: { a: 1 } } }, /constructor/),
  {
    name: 'a prototype in the input',
    says: /__proto__/,
    query: PUBLISH,
    as: SERVICE,
    variables: `{"input":{"__proto__":{"actorId":"ann"},"descriptor":{"custom":${JSON.stringify(FULL)}}}}`,
  },
  {
    name: '60 KB where a number belongs',
    says: /Variable "\$input" got invalid value/,
    query: PUBLISH,
    as: SERVICE,
    variables: { input: { descriptor: { applicationRating: { ...RATING, ratingScore: LONG } } } },
  },
  { name: 'no input', says: /\$input/, query: PUBLISH, as: SERVICE },
  { name: 'an input that is null', says: /\$input/, query: PUBLISH, as: SERVICE, variables: { input: null } },
  {
    name: '501 actions',
    says: /at most 500/,
    query: PUBLISH_MANY,
    as: SERVICE,
    variables: { inputs: numbered(501).map(() => VALID) },
  },
  {
    name: 'one action of a batch that does not fit the schema',
    says: /inputs\[1\]/,
    query: PUBLISH_MANY,
    as: SERVICE,
    variables: { inputs: [VALID, { ...VALID, actorId: 7 }] },
  },
];

test.each([...descriptors, ...data, ...people, ...others])(
  'rejects $name and records nothing',
  async (request) => {
    await expectRefusal(world, request, () => sendQuery(world, request));
  },
);

test('rejects every invalid action of a batch separately, with its code', async () => {
  const inputs = [
    { ...VALID, actorId: '' },
    { ...VALID, scope: 'RESTRICTED' },
    { ...VALID, actorId: 'lone', scope: 'TEAM' },
    { ...VALID, conducted: inDays(1) },
    { descriptor: { custom: { ...FULL, data: { $gt: '' } } } },
  ];
  const answer = await sendQuery(world, { query: PUBLISH_MANY, as: SERVICE, variables: { inputs } });
  const results = answer.data?.['publishActions'] as { action: null; error: { code: string } }[];
  expect(results.map(({ action, error }) => [action, error.code])).toEqual(
    inputs.map(() => [null, 'BAD_USER_INPUT']),
  );
});

test('treats names with a meaning elsewhere as plain data', async () => {
  const text =
    '{"constructor":{"prototype":{"isAdmin":true}},"toString":"x","hasOwnProperty":1,"a.b":{"c$":null},"":[]}';
  const variables = `{"input":{"descriptor":{"custom":{"verb":"v","objectType":"o","objectId":"i","data":${text}}}}}`;
  const query = `mutation ($input: PublishActionInput!) {
    publishAction(input: $input) { action { descriptor { ... on CustomDescriptor { data } } } }
  }`;
  const { data: shown } = await sendQuery(world, { query, variables });
  expect(shown).toEqual({ publishAction: { action: { descriptor: { data: JSON.parse(text) as object } } } });
  expect({}).not.toHaveProperty('isAdmin');
});

test('accepts and delivers everything at its maximum', async () => {
  await using free = await openRefusalWorld({ worker: true, env: { BODY_LIMIT: '16MiB' } });
  const id = (n: number): string => String(n).padStart(256, '€');
  const name = '語'.repeat(512);
  const many = <T>(count: number, make: (n: number) => T): T[] =>
    Array.from({ length: count }, (_, n) => make(n));
  const input = {
    ...{ actorId: id(0), idempotencyKey: id(1), scope: 'RESTRICTED', conducted: '1970-01-01T00:00:00Z' },
    mentions: many(1_000, id),
    recipients: many(1_000, (n) => id(n + 1_000)),
    refs: many(100, (n) => ({ id: id(n), type: id(n), label: name })),
    descriptor: {
      applicationRating: {
        ...{ raterId: id(2), raterName: name, applicantId: id(3), applicantName: name, positionId: id(4) },
        ...{ positionName: name, ratingScore: 100, ratingText: '語'.repeat(8_192) },
        tags: many(32, (n) => String(n).padStart(64, '語')),
      },
    },
  };
  expect(await sendQuery(free, { query: PUBLISH, as: SERVICE, variables: { input } })).toHaveProperty(
    'errors',
    [],
  );
  await free.app.idle();
  const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Action { refs { label } fanOut { state delivered } } } }`;
  const feed = '{ feed(first: 1) { edges { node { reasons action { id } } } } }';
  const shown = await sendQuery(free, { query: feed, as: { sub: id(1_999) } });
  const edges = (shown.data?.['feed'] as { edges: { node: { action: { id: string } } }[] }).edges;
  expect(edges).toMatchObject([{ node: { reasons: ['RECIPIENT'] } }]);
  const found = await sendQuery(free, {
    ...{ query, as: ADMIN },
    variables: { ids: edges.map(({ node }) => node.action.id) },
  });
  expect(found.data).toMatchObject({
    nodes: [
      { refs: input.refs.map(({ label }) => ({ label })), fanOut: { state: 'DONE', delivered: 2_000 } },
    ],
  });
});

test('notices actual changes', async () => {
  const send = () => sendQuery(world, { query: PUBLISH, as: SERVICE, variables: { input: VALID } });
  const before = await contents(world);
  const refusal = expectRefusal(world, { says: /no error/ }, send);
  await expect(refusal).rejects.toThrow(/to deeply equal/);
  expect(await contents(world)).not.toEqual(before);
});
