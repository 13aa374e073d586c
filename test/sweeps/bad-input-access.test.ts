import { createHmac } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROLES, type Role } from '../../src/domain/viewer.ts';
import { buildSchema } from '../../src/app/schema.ts';
import { TEST_SECRET } from '../support/app.ts';
import { expectRefusal, send, sendQuery, type BadRequest } from '../support/bad-requests.ts';
import { openRefusalWorld, type RefusalWorld } from '../support/refusal-world.ts';

let world: RefusalWorld;
beforeAll(async () => {
  world = await openRefusalWorld();
});
afterAll(async () => world[Symbol.asyncDispose]());

interface GuardedOperation {
  readonly operation: string;
  /** Each of them is enough. */
  readonly roles: readonly Role[];
  readonly query: string;
  readonly variables?: BadRequest['variables'];
}

const DESCRIPTOR = '{ custom: { verb: "v", objectType: "o", objectId: "i" } }';
const GUARDED: readonly GuardedOperation[] = [
  { operation: 'actions', roles: ['admin', 'service'], query: '{ actions { edges { cursor } } }' },
  { operation: 'erasure', roles: ['admin'], query: '{ erasure(memberId: "ann") { state } }' },
  { operation: 'memberExport', roles: ['admin'], query: '{ memberExport(memberId: "bob") }' },
  { operation: 'feedState', roles: ['admin'], query: '{ feedState(memberId: "ann") }' },
  { operation: 'rebuildFeed', roles: ['admin'], query: 'mutation { rebuildFeed(memberId: "ann") }' },
  { operation: 'eraseMember', roles: ['admin'], query: 'mutation { eraseMember(memberId: "lone") }' },
  { operation: 'moderationLog', roles: ['admin'], query: '{ moderationLog { edges { cursor } } }' },
  ...['retryFanOut', 'hideAction', 'unhideAction', 'deleteAction'].map((operation): GuardedOperation => ({
    ...{ operation, roles: ['admin'], query: `mutation ($id: ID!) { ${operation}(id: $id) { id } }` },
    variables: ({ ids }) => ({ id: ids.action }),
  })),
  { operation: 'erasures', roles: ['admin'], query: '{ erasures { edges { cursor } } }' },
  { operation: 'hostEvents', roles: ['admin', 'service'], query: '{ hostEvents { edges { cursor } } }' },
  {
    operation: 'webhookDeliveries',
    roles: ['admin'],
    query: '{ webhookDeliveries { edges { cursor } } }',
  },
  {
    operation: 'retryWebhook',
    roles: ['admin'],
    query: `mutation { retryWebhook(id: "${'0'.repeat(32)}") { id } }`,
  },
  { operation: 'mailState', roles: ['admin', 'service'], query: '{ mailState(memberId: "ann") { sentAt } }' },
  { operation: 'webhookReceivers', roles: ['admin'], query: '{ webhookReceivers { url } }' },
  { operation: 'sendTestEvent', roles: ['admin'], query: 'mutation { sendTestEvent }' },
  { operation: 'work', roles: ['admin'], query: '{ work { workers } }' },
  { operation: 'samples', roles: ['admin'], query: '{ samples { published } }' },
  { operation: 'latestInteractions', roles: ['admin'], query: '{ latestInteractions { edges { cursor } } }' },
  ...['hideInteraction', 'unhideInteraction'].map((operation): GuardedOperation => ({
    ...{ operation, roles: ['admin'], query: `mutation ($id: ID!) { ${operation}(id: $id) { id } }` },
    variables: ({ ids }) => ({ id: ids.comment }),
  })),
  ...['pinAction', 'unpinAction'].map((operation): GuardedOperation => ({
    operation,
    roles: ['admin', 'service'],
    query: `mutation ($id: ID!) { ${operation}(refId: "site", actionId: $id) { refId } }`,
    variables: ({ ids }) => ({ id: ids.action }),
  })),
  {
    operation: 'unfollowMany',
    roles: ['service'],
    query: 'mutation { unfollowMany(pairs: [{ followerId: "ann", refId: "site" }]) }',
  },
  {
    operation: 'renameRef',
    roles: ['service'],
    query: 'mutation { renameRef(refId: "site", label: "Sight") { label } }',
  },
  {
    operation: 'upsertMembers',
    roles: ['service'],
    query: 'mutation { upsertMembers(members: [{ memberId: "ann", name: "Anna" }]) }',
  },
  {
    operation: 'upsertRefs',
    roles: ['service'],
    query: 'mutation { upsertRefs(refs: [{ id: "site", type: "site", label: "Sight" }]) }',
  },
  {
    operation: 'followMany',
    roles: ['service'],
    query: 'mutation { followMany(pairs: [{ followerId: "ann", refId: "site" }]) }',
  },
  {
    operation: 'publishAction',
    roles: ['service'],
    query: `mutation { publishAction(input: { actorId: "actor", descriptor: ${DESCRIPTOR} }) { isReplay } }`,
  },
  {
    operation: 'addInteraction',
    roles: ['service'],
    query:
      'mutation ($id: ID!) { addInteraction(input: { actionId: $id, kind: LIKE, actorId: "bob" }) { isReplay } }',
    variables: ({ ids }) => ({ id: ids.action }),
  },
];

const CALLERS = [['user'], ['service'], ['admin'], ['user', 'service'], ['user', 'admin']] as const;

const forbidden = GUARDED.flatMap(({ operation, roles: allowed, ...request }) =>
  CALLERS.filter((roles) => !roles.some((role) => allowed.includes(role))).map((roles) => ({
    name: `${operation} with the roles ${roles.join(', ')}`,
    ...{ code: 'FORBIDDEN' as const, says: /role|admin/, as: { sub: 'ann', roles } },
    ...request,
  })),
);

test.each(forbidden)('forbids $name', async (request) => {
  await expectRefusal(world, request, () => sendQuery(world, request));
});

test('forbids single actions of other actors in a batch', async () => {
  const answer = await sendQuery(world, {
    query: `mutation { publishActions(inputs: [{ actorId: "actor", descriptor: ${DESCRIPTOR} }]) { error { code } } }`,
  });
  expect(answer.data).toEqual({ publishActions: [{ error: { code: 'FORBIDDEN' } }] });
});

test('covers every operation whose description requires a role', async () => {
  const schema = await buildSchema();
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}),
  );
  const guarded = fields.filter(({ description }) =>
    /^(?:admin|service)(?: and service)?[.:]/i.test(description ?? ''),
  );
  expect(guarded.length).toBeGreaterThan(4);
  expect(GUARDED.map(({ operation }) => operation)).toEqual(
    expect.arrayContaining(guarded.map(({ name }) => name)),
  );
});

const secret = new TextEncoder().encode(TEST_SECRET);
const inAnHour = (): number => Math.floor(Date.now() / 1_000) + 3_600;

function token(claims: object, alg = 'HS256', key: Uint8Array = secret): Promise<string> {
  return new SignJWT({ sub: 'ann', exp: inAnHour(), roles: ['admin', 'service'], ...claims })
    .setProtectedHeader({ alg })
    .sign(key);
}

/** A token whose claims were exchanged under its signature. */
async function forged(): Promise<string> {
  const [head, , signature] = (await token({ roles: ['user'] })).split('.');
  const claims = JSON.stringify({ sub: 'ann', exp: inAnHour(), roles: ['admin'] });
  return [head, Buffer.from(claims).toString('base64url'), signature].join('.');
}

/** A token signed by hand, with claims that the library would not take. */
function handMade(claims: string, header: object = { alg: 'HS256' }): string {
  const [head, body] = [JSON.stringify(header), claims].map((part) =>
    Buffer.from(part).toString('base64url'),
  );
  const signature = createHmac('sha256', TEST_SECRET)
    .update(`${head ?? ''}.${body ?? ''}`)
    .digest('base64url');
  return [head, body, signature].join('.');
}

const AUTHORIZATIONS: readonly (readonly [string, () => string | Promise<string>])[] = [
  ['a forged token', async () => `Bearer ${await forged()}`],
  ['a token without signature', async () => `Bearer ${(await token({})).split('.').slice(0, 2).join('.')}.`],
  [
    'a token of the algorithm none',
    () => `Bearer ${new UnsecuredJWT({ sub: 'ann', exp: inAnHour() }).encode()}`,
  ],
  ['a token of another algorithm', async () => `Bearer ${await token({}, 'HS512')}`],
  ['a token of another secret', async () => `Bearer ${await token({}, 'HS256', secret.slice(1))}`],
  ['an expired token', async () => `Bearer ${await token({ exp: inAnHour() - 3_601 })}`],
  ['a token not valid yet', async () => `Bearer ${await token({ nbf: inAnHour() })}`],
  ['a token without an end', async () => `Bearer ${await token({ exp: undefined })}`],
  ['a token without a subject', async () => `Bearer ${await token({ sub: undefined })}`],
  ['a token of an empty subject', async () => `Bearer ${await token({ sub: '' })}`],
  ['a token of a long subject', async () => `Bearer ${await token({ sub: 'x'.repeat(257) })}`],
  ['a subject with NUL', async () => `Bearer ${await token({ sub: 'ann\u0000' })}`],
  ['a subject that is half a character', () => `Bearer ${handMade('{"sub":"\\ud800","exp":9999999999}')}`],
  ['a subject that is an operator', () => `Bearer ${handMade('{"sub":{"$gt":""},"exp":9999999999}')}`],
  ['an end that is text', () => `Bearer ${handMade('{"sub":"ann","exp":"9999999999"}')}`],
  ['claims that are no JSON', () => `Bearer ${handMade('sub=ann')}`],
  ['claims that are a list', () => `Bearer ${handMade('["ann"]')}`],
  [
    'a critical header',
    () => `Bearer ${handMade('{"sub":"ann","exp":9999999999}', { alg: 'HS256', crit: ['x'], x: 1 })}`,
  ],
  ['a token of 9000 characters', async () => `Bearer ${await token({ more: 'x'.repeat(6_600) })}`],
  ['garbage', () => 'Bearer garbage'],
  ['nothing', () => 'Bearer '],
  ['another scheme', () => 'Basic YW5uOmFubg=='],
  ['two tokens', async () => `Bearer ${await token({})}, Bearer ${await token({})}`],
];

const ASKED = [
  '{ viewer { memberId } }',
  '{ __typename }',
  'mutation { upsertRefs(refs: [{ id: "site", type: "site", label: "Sight" }]) }',
];

test.each(AUTHORIZATIONS)('rejects every request with %s', async (_name, authorization) => {
  const headers = { authorization: await authorization() };
  for (const query of ASKED)
    await expectRefusal(world, { code: 'UNAUTHENTICATED', says: /./ }, async () => {
      const answer = await send(world, { headers, body: JSON.stringify({ query }) });
      expect(answer.status).toBe(401);
      return answer;
    });
});

test.each([
  '{ viewer { memberId } }',
  '{ a: __typename viewer { memberId } }',
  'mutation { upsertRefs(refs: []) }',
  'query Q { ...F } fragment F on Query { feed { edges { cursor } } }',
])('requires a token before it answers %s', async (query) => {
  await expectRefusal(world, { code: 'UNAUTHENTICATED', says: /requires a token/ }, () =>
    sendQuery(world, { query, as: null }),
  );
});

test.each([
  { roles: 'admin' },
  { roles: ['root', 'ADMIN'] },
  { roles: { admin: true } },
  { roles: null },
  { roles: [] },
])('treats a token with %j as one of a user', async (claims) => {
  const headers = { authorization: `Bearer ${await token(claims)}` };
  const body = JSON.stringify({ query: '{ actions { edges { cursor } } }' });
  await expectRefusal(world, { code: 'FORBIDDEN', says: /roles admin/ }, () =>
    send(world, { headers, body }),
  );
});

/** What these are about does not exist, which only callers with the role get to know. */
const WITHOUT_SUBJECT = new Map([
  ['retryFanOut', ['CONFLICT']],
  ['retryWebhook', ['NOT_FOUND']],
  ['sendTestEvent', ['CONFLICT']],
]);

/** What deletes comes last, or there would be nothing left for the others. */
function byDeletion(a: GuardedOperation, b: GuardedOperation): number {
  return Number(a.operation === 'deleteAction') - Number(b.operation === 'deleteAction');
}

test('lets members with the role do what the table forbids to others', async () => {
  await using free = await openRefusalWorld();
  for (const { roles, operation, ...request } of [...GUARDED].sort(byDeletion))
    for (const role of roles) {
      expect(ROLES).toContain(role);
      const answer = await sendQuery(free, { ...request, as: { sub: 'ann', roles: [role] } });
      const codes = answer.errors.map(({ extensions }) => extensions?.['code']);
      expect([operation, codes]).toEqual([operation, WITHOUT_SUBJECT.get(operation) ?? []]);
    }
});
