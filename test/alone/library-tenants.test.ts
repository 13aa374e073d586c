import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createFanfare } from '../../src/index.ts';
import { borrowDatabase, openShared, returnDatabase } from '../support/spare-databases.ts';
import { TENANT_CLAIM } from '../support/tenants.ts';

// A process of a host in which two tenants have the same ids, each with a Fanfare of its own.

let settings: Readonly<
  Record<'MONGODB_URI' | 'REDIS_URL' | 'MONGODB_DB' | 'LOG_LEVEL' | 'TENANT_CLAIM', string>
>;
beforeAll(async () => {
  settings = {
    MONGODB_URI: inject('mongodbUri'),
    REDIS_URL: inject('redisUrl'),
    MONGODB_DB: await borrowDatabase(),
    ...{ LOG_LEVEL: 'silent', TENANT_CLAIM },
  };
});
afterAll(async () => returnDatabase(await openShared(settings.MONGODB_DB)));

test('each tenant reads and pages its own data, with cursors that the other rejects', async () => {
  await using acme = createFanfare({}, { settings, tenant: 'acme' });
  await using other = createFanfare({}, { settings, tenant: 'other' });
  for (const [fanfare, of] of [
    [acme, 'red'],
    [other, 'blue'],
  ] as const) {
    await fanfare.start();
    await fanfare.upsertMembers([{ memberId: 'bob', name: `${of} Bob` }]);
    await fanfare.follow([{ followerId: 'ann', refId: 'bob' }]);
    for (const postId of ['p1', 'p2', 'p3'])
      await fanfare.publish({ actorId: 'bob', idempotencyKey: postId, descriptor: { posted: { postId } } });
    await fanfare.delivered();
  }
  const first = await acme.read('ann', { first: 2 });
  expect(first).toMatchObject({ items: { length: 2 }, hasNextPage: true });
  const second = await acme.read('ann', { first: 2, after: first.endCursor });
  expect(second).toMatchObject({ items: { length: 1 }, hasNextPage: false });
  const all = [...first.items, ...second.items];
  expect(all.map(({ action }) => action.actorId)).toEqual(['bob', 'bob', 'bob']);
  for (const { summary } of all) expect(summary).toMatch(/^red Bob /);
  expect(JSON.stringify(all)).not.toMatch(/blue|u001f|acme/);

  await expect(other.read('ann', { after: first.endCursor })).rejects.toMatchObject({
    ...{ code: 'BAD_CURSOR', message: 'The cursor does not belong to this list' },
  });
  // The API of the same tenant takes it too, and gives it.
  const page =
    'query ($after: String) { feed(first: 2, after: $after) { edges { cursor } pageInfo { endCursor } } }';
  const asAnn = { memberId: 'ann' };
  const { data } = await acme.query<{ readonly feed: { readonly pageInfo: { readonly endCursor: string } } }>(
    page,
    {},
    asAnn,
  );
  expect((await acme.read('ann', { after: data?.feed.pageInfo.endCursor ?? '' })).items).toHaveLength(1);
  expect((await acme.query(page, { after: first.endCursor }, asAnn)).errors).toEqual([]);
  expect((await other.query(page, { after: first.endCursor }, asAnn)).errors).toMatchObject([
    { extensions: { code: 'BAD_CURSOR' } },
  ]);
});
