import { expect, test } from 'vitest';
import { openParts, type Parts } from '../../support/parts.ts';
import { MEMBER_DETAILS, REF_DETAILS } from '../../../src/feed/loads/names.ts';

const DETAILS = {
  imageUrl: 'https://images.example/a.png',
  url: 'https://things.example/a?b=c#d',
  data: { colour: 'red', sizes: [1, 2], 'a.b': null },
};
const NONE = { imageUrl: null, url: null, data: null };
const ref = { id: 'site', type: 'site', label: 'Site' };
const member = { memberId: 'ann', name: 'Ann' };

type Kind = 'ref' | 'member';

async function describeOne(parts: Parts, kind: Kind, details: object): Promise<void> {
  if (kind === 'ref') await parts.services.upsertRefs(parts.service, [{ ...ref, ...details }]);
  else await parts.services.upsertMembers(parts.service, [{ ...member, ...details }]);
}

async function detailsOf(parts: Parts, kind: Kind): Promise<unknown> {
  const session = parts.session('reader');
  return kind === 'ref' ? session.load(REF_DETAILS, 'site') : session.load(MEMBER_DETAILS, 'ann');
}

test.each(['ref', 'member'] as const)('stores the details of a %s, and clears omitted ones', async (kind) => {
  await using parts = await openParts();
  const id = kind === 'ref' ? { refId: 'site', pinned: [] } : { userId: 'ann' };
  await describeOne(parts, kind, DETAILS);
  expect(await detailsOf(parts, kind)).toEqual({ ...id, ...DETAILS });
  await describeOne(parts, kind, { url: DETAILS.url, data: null });
  expect(await detailsOf(parts, kind)).toEqual({ ...id, ...NONE, url: DETAILS.url });
  await describeOne(parts, kind, {});
  expect(await detailsOf(parts, kind)).toEqual({ ...id, ...NONE });
});

test('stores a text that looks like a database expression unchanged', async () => {
  await using parts = await openParts();
  await describeOne(parts, 'ref', { data: '$label' });
  expect(await detailsOf(parts, 'ref')).toMatchObject({ data: '$label' });
});

test('a new label keeps the details', async () => {
  await using parts = await openParts();
  await describeOne(parts, 'ref', DETAILS);
  const renamed = await parts.services.renameRef(parts.service, 'site', 'New');
  expect(renamed).toMatchObject({ label: 'New', type: 'site' });
  expect(await detailsOf(parts, 'ref')).toMatchObject(DETAILS);
});

test.each<[string, object]>([
  ['a URL that is not https', { url: 'http://things.example' }],
  ['a script', { imageUrl: 'javascript:alert(1)' }],
  ['data in a URL', { imageUrl: 'data:image/png;base64,AAAA' }],
  ['a URL with a blank', { url: 'https://things.example/a b' }],
  ['a URL with a line break', { url: 'https://things.example/\n' }],
  ['a URL without a host', { url: 'https://' }],
  ['a URL without slashes', { url: 'https:things.example' }],
  ['a text that is no URL', { url: 'things' }],
  ['an empty URL', { imageUrl: '' }],
  ['a very long URL', { url: `https://things.example/${'x'.repeat(2_048)}` }],
  ['more than 4 KiB of data', { data: { text: 'x'.repeat(4_090) } }],
  ['data with an operator', { data: { $set: 1 } }],
])('rejects %s', async (_what, details) => {
  await using parts = await openParts();
  for (const kind of ['ref', 'member'] as const) {
    const [field] = Object.keys(details);
    await expect(describeOne(parts, kind, details)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: expect.arrayContaining([kind === 'ref' ? 'refs' : 'members', 0, field]) as unknown }],
    });
    expect(await detailsOf(parts, kind)).toBeNull();
  }
});

test.each(['imageUrl', 'url', 'data'] as const)(
  'rejects %s of a ref that an action refers to',
  async (field) => {
    await using parts = await openParts();
    await expect(parts.publish({ refs: [{ ...ref, [field]: DETAILS[field] }] })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['input', 'refs', 0, field] }],
    });
    const [outcome] = await parts.services.publishActions(parts.service, [
      { descriptor: { followed: { followedId: 'x', followedName: 'X' } }, refs: [{ ...ref, [field]: 1 }] },
    ]);
    expect(outcome).toMatchObject({ action: null, error: { code: 'BAD_USER_INPUT' } });
    const { action } = await parts.publish({ refs: [{ ...ref, [field]: null }] });
    expect(action.refs).toEqual([ref]);
  },
);

test('deliveries and decisions read no details', async () => {
  await using parts = await openParts();
  await describeOne(parts, 'ref', DETAILS);
  await describeOne(parts, 'member', { ...DETAILS, teamId: 't' });
  const { members, refs } = parts.repositories;
  const group = { kind: 'team', id: 't' } as const;
  const records = [
    ...(await members.findByIds(['ann'])),
    ...(await members.inGroup(group, null, 10)),
    await members.find('ann'),
    ...(await refs.findByIds(['site'])),
  ];
  expect(records).toHaveLength(4);
  for (const record of records)
    expect(Object.keys(record ?? {})).not.toEqual(expect.arrayContaining(['imageUrl']));
});
