import { memberTraces } from '../../../parts/erasure/src/store/member-traces.ts';
import { expect, test } from 'vitest';
import type { Core } from '../../../src/core/core.ts';
import { searchMembers, type SearchArgs } from '../../../src/features/directory/search.ts';
import { storedId } from '../../../src/domain/stored-id.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const service = (parts: Parts) => parts.session('service', 'service');

const PEOPLE = {
  ...{ ann: 'Ann Smith', anna: 'Anna Jones', bea: 'Beatriz Ångström', cid: 'Cid Müller-Smith' },
  ...{ dan: "Dan O'Brien", eve: 'Ève Łukasz', fay: 'Øystein Straße', wang: '王小明' },
};

async function describePeople(parts: Parts): Promise<void> {
  const members = Object.entries(PEOPLE).map(([memberId, name]) => ({ memberId, name }));
  await parts.services.upsertMembers(parts.service, members);
}

async function namesOf(parts: Parts, search: string | null, args: SearchArgs = {}): Promise<string[]> {
  const page = await parts.services.searchMembers(service(parts), { ...args, search });
  return page.edges.map(({ node }) => node.userId);
}

test('finds members by whole words and the beginning of the last one, without regard to case and accents', async () => {
  await using parts = await openParts();
  await describePeople(parts);
  const searches: readonly (readonly [string, readonly string[]])[] = [
    ['an', ['ann', 'anna', 'bea']],
    ['ANN', ['ann', 'anna']],
    ['ann s', ['ann']],
    ['smith ann', ['ann']],
    ['ann smith', ['ann']],
    ['smi', ['ann', 'cid']],
    ['  angstrom ', ['bea']],
    ['ÅNGSTRÖM', ['bea']],
    ['muller', ['cid']],
    ['müller smith', ['cid']],
    ["o'b", ['dan']],
    ['o’brien', ['dan']],
    ['brien', ['dan']],
    ['eve luk', ['eve']],
    ['oystein strasse', ['fay']],
    ['STRASSE', ['fay']],
    ['王小', ['wang']],
    ['nn', []],
    ['jo smith', []],
    ['an smith', []],
    ['?!', []],
    ['$', []],
  ];
  for (const [search, expected] of searches)
    expect([search, await namesOf(parts, search)]).toEqual([search, expected]);
});

test('lists all members in order of name, in pages of any size, also those with the same name', async () => {
  await using parts = await openParts();
  await describePeople(parts);
  const same = ['s1', 's2', 's3'].map((memberId) => ({ memberId, name: 'Sam Same' }));
  await parts.services.upsertMembers(parts.service, same);
  const all = ['ann', 'anna', 'bea', 'cid', 'dan', 'eve', 'fay', 's1', 's2', 's3', 'wang'];
  for (const first of [1, 2, 3, 100]) {
    const found: string[] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<Parts['services']['searchMembers']>> =
        await parts.services.searchMembers(service(parts), { search: '', first, after });
      found.push(...page.edges.map(({ node }) => node.userId));
      after = page.hasMore ? page.end : null;
    } while (after !== null);
    expect(found).toEqual(all);
  }
  await expect(
    parts.services.searchMembers(service(parts), { search: 'a', after: 'AAAA' }),
  ).rejects.toMatchObject({ code: 'BAD_CURSOR' });
});

test('finds a member by the new name only, and an erased one no more', async () => {
  await using parts = await openParts();
  await describePeople(parts);
  await parts.services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Zoe Smith' }]);
  expect(await namesOf(parts, 'ann')).toEqual(['anna']);
  expect(await namesOf(parts, 'zoe')).toEqual(['ann']);
  await memberTraces(parts.core).conceal({ memberId: 'ann', names: [], pseudonym: 'erased:1' });
  expect(await namesOf(parts, 'zoe')).toEqual([]);
  expect(await namesOf(parts, 'former')).toEqual([]);
  expect(await namesOf(parts, null)).not.toContain('ann');
});

test('finds refs by label and type, once they are described', async () => {
  await using parts = await openParts();
  await parts.services.upsertRefs(parts.service, [
    { id: 'j1', type: 'job', label: 'Café manager' },
    { id: 'j2', type: 'job', label: 'Cook' },
    { id: 's1', type: 'site', label: 'Café north' },
  ]);
  await parts.services.follow(parts.session('ann'), 'unknown', null);
  const found = async (search: string | null, type?: string): Promise<string[]> => {
    const page = await parts.services.searchRefs(service(parts), { search, type });
    return page.edges.map(({ node }) => node.refId);
  };
  expect(await found('cafe')).toEqual(['j1', 's1']);
  expect(await found('cafe', 'job')).toEqual(['j1']);
  expect(await found(null, 'job')).toEqual(['j1', 'j2']);
  expect(await found(null)).toEqual(['j1', 's1', 'j2']);
  await parts.services.renameRef(parts.service, 'j1', 'Barista');
  expect(await found('cafe')).toEqual(['s1']);
  expect(await found('bar', 'job')).toEqual(['j1']);
  await parts.services.upsertRefs(parts.service, [{ id: 'j1', type: 'role', label: 'Barista' }]);
  expect(await found('bar', 'job')).toEqual([]);
  expect(await found('bar', 'role')).toEqual(['j1']);
});

test('is for services and admins, and for members where the directory is open to them, within their limit', async () => {
  await using parts = await openParts();
  await describePeople(parts);
  const search = (core: Core, userId: string) =>
    searchMembers(core, parts.session(userId), { search: 'ann' });
  await expect(search(parts.core, 'bob')).rejects.toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringContaining('DIRECTORY_SEARCH=members') as string,
  });
  const taken: string[] = [];
  const open: Core = {
    ...parts.core,
    directory: {
      isOpen: true,
      takeSearch: (userId) => Promise.resolve(taken.push(userId) > 2 ? 1_500 : null),
    },
  };
  expect((await search(open, 'bob')).edges).toHaveLength(2);
  expect((await search(open, 'bob')).edges).toHaveLength(2);
  await expect(search(open, 'bob')).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    message: 'Too many searches, try again in 2 s',
  });
  expect(taken).toEqual(['bob', 'bob', 'bob']);
  expect((await searchMembers(open, service(parts), {})).edges).toHaveLength(8);
});

test('finds nobody of another tenant', async () => {
  await using parts = await openParts();
  const none = {
    teamId: null,
    departmentId: null,
    supervisorId: null,
    imageUrl: null,
    url: null,
    data: null,
    contact: { email: null, locale: null, timeZone: null },
  };
  for (const tenant of ['red', 'redder'])
    await parts.core.members.upsert(
      [{ userId: storedId(tenant, 'ann'), name: `Ann ${tenant}`, ...none }],
      new Date(),
    );
  for (const search of ['', 'ann', 'red', 'redder']) {
    const host = parts.session(storedId('red', 'host'), 'service');
    const page = await parts.services.searchMembers(host, { search });
    expect(page.edges.map(({ node }) => node.name)).toEqual(search === 'redder' ? [] : ['Ann red']);
  }
  expect(await namesOf(parts, 'ann')).toEqual([]);
});
