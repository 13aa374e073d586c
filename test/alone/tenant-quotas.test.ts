import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { inTenant, TENANT_CLAIM } from '../support/tenants.ts';
import { uniqueName } from '../support/unique-name.ts';

// Names of their own: databases of tests are lent out again, and with them what was counted for a name.
const tenantName = (prefix: string): string => uniqueName(prefix).replace('_', '-');
const tenants = (): readonly [string, string] => [tenantName('acme'), tenantName('other')];
const SERVICE = { sub: 'service', roles: ['service'] } as const;

const inputOf = (key: string) => ({
  ...{ idempotencyKey: key, actorId: 'bob' },
  descriptor: { posted: { postId: key } },
});

/** What becomes of one publication. */
async function publish(app: TestApp, tenant: string, key: string): Promise<string> {
  const { errors } = await inTenant(app, tenant).query(
    'mutation ($input: PublishActionInput!) { publishAction(input: $input) { isReplay } }',
    { input: inputOf(key) },
    SERVICE,
  );
  return errors[0]?.extensions.code ?? 'OK';
}

test('a tenant has a quota of publications per window, over all processes, independent of other tenants', async () => {
  const [acme, other] = tenants();
  const env = { TENANT_CLAIM, TENANT_PUBLICATIONS: '3/1h' };
  await using one = await startTestApp({ worker: false, env });
  await using two = await startTestApp({ worker: false, env, database: one.database });
  expect([await publish(one, acme, 'a'), await publish(two, acme, 'b')]).toEqual(['OK', 'OK']);
  // What was published before takes nothing of it, nor does what is refused for what it is.
  expect([await publish(one, acme, 'a'), await publish(two, acme, 'a')]).toEqual(['OK', 'OK']);
  const { errors: faults } = await inTenant(one, acme).query(
    'mutation { publishAction(input: { actorId: "bob", recipients: ["x"], descriptor: { posted: { postId: "p" } } }) { isReplay } }',
    {},
    SERVICE,
  );
  expect(faults).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  expect([await publish(two, acme, 'c'), await publish(one, acme, 'd')]).toEqual(['OK', 'RATE_LIMITED']);
  expect(await publish(two, acme, 'd')).toBe('RATE_LIMITED');
  // Nor does what was published before need a share.
  expect([await publish(one, acme, 'a'), await publish(two, acme, 'c')]).toEqual(['OK', 'OK']);
  expect(await publish(two, other, 'a')).toBe('OK');
  const { errors } = await inTenant(one, acme).query(
    'mutation ($input: PublishActionInput!) { publishAction(input: $input) { isReplay } }',
    { input: inputOf('e') },
    SERVICE,
  );
  expect(errors[0]?.message).toMatch(/^Too many publications of the tenant, try again in \d+ s$/);
});

test('limits of a tenant are counted by all processes together, independent of other tenants', async () => {
  const [acme, other] = tenants();
  const env = { TENANT_CLAIM, RATE_LIMIT_TENANT: '4/1h' };
  await using one = await startTestApp({ worker: false, env });
  await using two = await startTestApp({ worker: false, env, database: one.database });
  const ask = async (app: TestApp, tenant: string, sub: string) => {
    const { errors } = await inTenant(app, tenant).query('{ viewer { memberId } }', {}, { sub });
    return errors[0]?.extensions.code ?? 'OK';
  };
  expect([await ask(one, acme, 'ann'), await ask(two, acme, 'bob')]).toEqual(['OK', 'OK']);
  expect([await ask(one, acme, 'cid'), await ask(two, acme, 'eve')]).toEqual(['OK', 'OK']);
  expect([await ask(one, acme, 'dan'), await ask(two, acme, 'ann')]).toEqual([
    'RATE_LIMITED',
    'RATE_LIMITED',
  ]);
  expect([await ask(one, other, 'ann'), await ask(two, other, 'ann')]).toEqual(['OK', 'OK']);
});

test("the cost of a tenant's operations is counted by all processes together, over all of its users", async () => {
  const [acme, other] = tenants();
  // Asks for a hundred items and what belongs to them: two of these are more than there is.
  const large = '{ feed(first: 100) { edges { node { action { actor { name } } } } } }';
  const env = { TENANT_CLAIM, RATE_LIMIT_TENANT_COST: '600/1h' };
  await using one = await startTestApp({ worker: false, env });
  await using two = await startTestApp({ worker: false, env, database: one.database });
  const ask = async (app: TestApp, tenant: string, sub: string, query = large) => {
    const site = inTenant(app, tenant);
    const response = await fetch(`${site.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await site.token(sub)}` },
      body: JSON.stringify({ query }),
    });
    const { errors = [] } = (await response.json()) as { errors?: { message: string }[] };
    const left = /^"tenant-cost";r=(\d+);t=\d+$/.exec(response.headers.get('ratelimit') ?? '');
    return { status: response.status, message: errors[0]?.message, left: Number(left?.[1]) };
  };
  const first = await ask(one, acme, 'ann');
  expect(first).toMatchObject({ status: 200, message: undefined });
  expect(first.left).toBeLessThan(300);
  expect(await ask(two, acme, 'bob')).toEqual({
    status: 429,
    message: expect.stringMatching(
      /^Operations of the tenant request too many objects, try again in \d+ s$/,
    ) as string,
    left: expect.any(Number) as number,
  });
  expect(await ask(two, other, 'bob')).toEqual(first);
});

test('of many publications in one call those within the quota are made', async () => {
  const [acme] = tenants();
  await using app = await startTestApp({
    worker: false,
    env: { TENANT_CLAIM, TENANT_PUBLICATIONS: '3/1h' },
  });
  const publishMany = async (...keys: string[]) => {
    const { data } = await inTenant(app, acme).query<{
      readonly publishActions: readonly { readonly error: { readonly code: string } | null }[];
    }>(
      'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { error { code } } }',
      { inputs: keys.map(inputOf) },
      SERVICE,
    );
    return data?.publishActions.map(({ error }) => error?.code ?? 'OK');
  };
  expect(await publishMany('a', 'b')).toEqual(['OK', 'OK']);
  // The replay is given back, so there is one left after it.
  expect(await publishMany('a')).toEqual(['OK']);
  expect(await publishMany('a', 'c', 'd')).toEqual(['OK', 'OK', 'RATE_LIMITED']);
  expect(await publishMany('f')).toEqual(['RATE_LIMITED']);
  expect(await publishMany('f', 'c', 'g', 'a')).toEqual(['RATE_LIMITED', 'OK', 'RATE_LIMITED', 'OK']);
});

test('the rest of a quota goes to valid entries, not to faulty ones or repeated keys', async () => {
  const [acme] = tenants();
  await using app = await startTestApp({
    worker: false,
    env: { TENANT_CLAIM, TENANT_PUBLICATIONS: '2/1h' },
  });
  const publishMany = async (...inputs: readonly object[]) => {
    const { data } = await inTenant(app, acme).query<{
      readonly publishActions: readonly {
        readonly isReplay: boolean;
        readonly error: { readonly code: string } | null;
      }[];
    }>(
      'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { isReplay error { code } } }',
      { inputs },
      SERVICE,
    );
    return data?.publishActions.map(({ isReplay, error }) => error?.code ?? (isReplay ? 'REPLAY' : 'OK'));
  };
  const teamless = (key: string) => ({ ...inputOf(key), scope: 'TEAM' });
  expect(await publishMany(teamless('x'), teamless('y'), inputOf('a'))).toEqual([
    'BAD_USER_INPUT',
    'BAD_USER_INPUT',
    'OK',
  ]);
  expect(await publishMany(inputOf('b'), inputOf('b'), inputOf('c'), inputOf('c'))).toEqual([
    'OK',
    'REPLAY',
    'RATE_LIMITED',
    'RATE_LIMITED',
  ]);
  // A fault is reported as such, whatever is left.
  expect(await publishMany(teamless('x'))).toEqual(['BAD_USER_INPUT']);
});

test('a tenant has a maximum number of members; existing ones can be described again', async () => {
  const [acme, other] = tenants();
  await using app = await startTestApp({ worker: false, env: { TENANT_CLAIM, TENANT_MEMBERS: '3' } });
  const describe = async (tenant: string, ...ids: string[]) => {
    const { errors } = await inTenant(app, tenant).query(
      'mutation ($members: [MemberInput!]!) { upsertMembers(members: $members) }',
      { members: ids.map((memberId) => ({ memberId, name: memberId })) },
      SERVICE,
    );
    return errors[0]?.message ?? 'OK';
  };
  const refused = 'The tenant may have at most 3 members';
  expect(await describe(acme, 'ann', 'bob')).toBe('OK');
  expect(await describe(acme, 'ann', 'cid', 'dan')).toBe(refused);
  expect(await describe(acme, 'ann', 'cid')).toBe('OK');
  expect(await describe(acme, 'dan')).toBe(refused);
  expect(await describe(acme, 'ann', 'bob', 'cid')).toBe('OK');
  expect(await describe(other, 'ann', 'bob', 'dan')).toBe('OK');
});

test('many tenants do not increase the number of metrics', async () => {
  await using app = await startTestApp({
    env: { TENANT_CLAIM, TENANT_PUBLICATIONS: '1/1h', RATE_LIMIT_TENANT: '5/1h' },
  });
  const ask = async (tenant: string) => {
    await publish(app, tenant, 'a');
    await publish(app, tenant, 'b');
    for (let n = 0; n < 4; n++) await inTenant(app, tenant).query('query Mine { feed { edges { cursor } } }');
    await app.idle();
  };
  const series = async () => {
    const page = await app.figures();
    // Values of buckets come as they are needed.
    return page.split('\n').filter((line) => line.startsWith('fanfare_') && !line.includes('le="')).length;
  };
  for (let n = 0; n < 2; n++) await ask(tenantName('first'));
  const few = await series();
  for (let n = 0; n < 12; n++) await ask(tenantName('more'));
  expect(await series()).toBe(few);
  const page = await app.figures();
  expect(page).not.toMatch(/first-|more-|u001f/);
});
