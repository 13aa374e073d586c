import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { inTenant, TENANT_CLAIM, type TenantApp } from '../../../../test/support/tenants.ts';

// The same ids mean others in each tenant, and none reaches into another.

const SERVICE = { sub: 'service', roles: ['service'] } as const;
const ENTITIES = /* GraphQL */ `
  query ($representations: [_Any!]!) {
    _entities(representations: $representations) {
      ... on Member {
        memberId
        name
      }
      ... on Ref {
        refId
        label
      }
      ... on Action {
        id
        scope
      }
    }
  }
`;

let app: TestApp;
/** An action that everybody in its tenant may see, and one for ann, by tenant. */
const actions = new Map<string, { readonly open: string; readonly restricted: string }>();

beforeAll(async () => {
  app = await startTestApp({ env: { TENANT_CLAIM, FEDERATION: 'on' } });
  for (const name of ['acme', 'other']) {
    const { data, errors } = await inTenant(app, name).query<
      Readonly<Record<'open' | 'restricted', { readonly action: { readonly id: string } }>>
    >(
      `mutation {
        upsertMembers(members: [{ memberId: "ann", name: "${name} Ann" }, { memberId: "${name}-only", name: "${name} Only" }])
        upsertRefs(refs: [{ id: "site", type: "site", label: "${name} Site" }])
        open: publishAction(input: { actorId: "ann", scope: PUBLIC, descriptor: { posted: { postId: "p" } } }) { action { id } }
        restricted: publishAction(input: { actorId: "bob", scope: RESTRICTED, recipients: ["ann"], descriptor: { posted: { postId: "p" } } }) {
          action { id }
        }
      }`,
      {},
      SERVICE,
    );
    expect(errors).toEqual([]);
    actions.set(name, {
      open: data?.open.action.id ?? '',
      restricted: data?.restricted.action.id ?? '',
    });
  }
  await app.idle();
});
afterAll(() => app[Symbol.asyncDispose]());

const entities = (tenant: TenantApp, representations: readonly unknown[], sub: string) =>
  tenant.query<{ readonly _entities: readonly unknown[] }>(ENTITIES, { representations }, { sub });

test.each([
  ['acme', 'other'],
  ['other', 'acme'],
])('in %s entities are those of its own', async (name, foreign) => {
  const own = actions.get(name);
  const others = actions.get(foreign);
  const asked = [
    { __typename: 'Member', memberId: 'ann' },
    { __typename: 'Ref', refId: 'site' },
    { __typename: 'Action', id: own?.open },
    { __typename: 'Action', id: own?.restricted },
    { __typename: 'Member', memberId: `${foreign}-only` },
    { __typename: 'Action', id: others?.open },
    { __typename: 'Action', id: others?.restricted },
  ];
  const seen = [
    { memberId: 'ann', name: `${name} Ann` },
    { refId: 'site', label: `${name} Site` },
    { id: own?.open, scope: 'PUBLIC' },
  ];
  for (const [sub, restricted] of [
    ['ann', { id: own?.restricted, scope: 'RESTRICTED' }],
    ['cid', null],
  ] as const) {
    const { data, errors } = await entities(inTenant(app, name), asked, sub);
    expect(errors).toEqual([]);
    expect(data?._entities).toEqual([...seen, restricted, null, null, null]);
  }
});

test('a key that names another tenant is refused', async () => {
  for (const [key, value] of [
    ['Member', { memberId: 'other\u001fann' }],
    ['Ref', { refId: 'other\u001fsite' }],
  ] as const) {
    const { data, errors } = await entities(inTenant(app, 'acme'), [{ __typename: key, ...value }], 'ann');
    expect(data?._entities).toEqual([null]);
    expect(errors.filter(({ extensions }) => extensions.code !== 'BAD_USER_INPUT')).toEqual([]);
    expect(JSON.stringify(data)).not.toContain('other ');
  }
});
