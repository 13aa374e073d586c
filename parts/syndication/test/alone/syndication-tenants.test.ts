import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';
import { inTenant, TENANT_CLAIM, type TenantApp } from '../../../../test/support/tenants.ts';

// With tenants, public is for everybody of a tenant: a reader needs a key of one of its members, and sees nothing of another.

const SERVICE = { sub: 'service', roles: ['service'] } as const;

let app: TestApp;
/** A key of cid, by tenant. */
const keys = new Map<string, string>();

beforeAll(async () => {
  app = await startTestApp({
    env: { TENANT_CLAIM, SYNDICATION: 'on', PUBLIC_URL: 'https://feed.example' },
  });
  for (const name of ['acme', 'other']) {
    const tenant = inTenant(app, name);
    await succeed(
      tenant,
      `mutation {
        upsertMembers(members: [{ memberId: "cid", name: "${name} Cid" }, { memberId: "ann", name: "${name} Ann" }])
        followMany(pairs: [{ followerId: "cid", refId: "site" }])
        publishAction(input: { actorId: "ann", scope: PUBLIC, refs: [{ id: "site", type: "site", label: "${name} Site" }],
          descriptor: { posted: { postId: "p", text: "words of ${name}" } } }) { isReplay } }`,
      SERVICE,
    );
    const { createFeedKey } = await succeed<{ createFeedKey: { url: string } }>(
      tenant,
      'mutation { createFeedKey(name: "Reader") { url } }',
      { sub: 'cid' },
    );
    keys.set(name, new URL(createFeedKey.url).searchParams.get('key') ?? '');
  }
  await app.idle();
});
afterAll(() => app[Symbol.asyncDispose]());

async function succeed<T>(
  tenant: TenantApp,
  document: string,
  as: Parameters<TenantApp['query']>[2],
): Promise<T> {
  const { data, errors } = await tenant.query<T>(document, {}, as);
  if (data === null || errors.length > 0) throw new Error(`Refused: ${JSON.stringify(errors)}`);
  return data;
}

async function get(path: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${app.url}${path}`);
  return { status: response.status, text: await response.text() };
}

test.each(['/feeds/ref/site.atom', '/feeds/me.atom', '/refs/site/outbox?page=1&'])(
  '%s has what is of the tenant of the key, and ids without it',
  async (path) => {
    for (const [name, other] of [
      ['acme', 'other'],
      ['other', 'acme'],
    ] as const) {
      const { status, text } = await get(
        `${path}${path.endsWith('&') ? '' : '?'}key=${keys.get(name) ?? ''}`,
      );
      expect(status).toBe(200);
      expect(text).toContain(`words of ${name}`);
      for (const foreign of [`words of ${other}`, `${other} Ann`, `${other} Site`, '\u001f', `${name}\u001f`])
        expect(text).not.toContain(foreign);
      // Others may be shown the feed; the key is not in it.
      expect(text).not.toContain(keys.get(name));
    }
  },
);

test('without a key, nothing is public', async () => {
  for (const path of ['/feeds/ref/site.atom', '/refs/site/outbox', '/actions/x'])
    expect(await get(path)).toMatchObject({ status: 401 });
  expect(await get(`/feeds/ref/site.atom?key=${'A'.repeat(43)}`)).toMatchObject({ status: 404 });
});

test('who is erased takes their keys along', async () => {
  const tenant = inTenant(app, 'other');
  await succeed(tenant, 'mutation { eraseMember(memberId: "cid") }', { sub: 'root', roles: ['admin'] });
  await expect
    .poll(
      () =>
        app.app.database.collections.feedKeys
          .find()
          .map(({ userId }) => userId)
          .toArray(),
      { timeout: PATIENCE_MS },
    )
    .toEqual(['acme\u001fcid']);
});
