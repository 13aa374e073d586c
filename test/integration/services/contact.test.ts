import { expect, test } from 'vitest';
import type { MemberInput } from '../../../src/core/shapes.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const NOTHING = { email: null, locale: null, timeZone: null };

async function stored(parts: Parts, input: Omit<MemberInput, 'memberId' | 'name'>): Promise<unknown> {
  await parts.services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Ann', ...input }]);
  return (await parts.core.members.withEmail(['ann', 'nobody'])).get('ann') ?? null;
}

test('a member has the address, language and zone that were given last, and none that were omitted', async () => {
  await using parts = await openParts();
  const all = { email: "Ann.O'Hara+feed@App.Example", locale: 'de-at', timeZone: 'Europe/Vienna' };
  const kept = { ...all, email: "Ann.O'Hara+feed@app.example", locale: 'de-AT' };
  expect(await stored(parts, all)).toEqual(kept);
  expect(await stored(parts, { email: 'ann@localhost', locale: null })).toEqual({
    ...NOTHING,
    email: 'ann@localhost',
  });
  // Without an address there is nobody to write to.
  expect(await stored(parts, { timeZone: 'UTC' })).toBeNull();
  expect(await stored(parts, {})).toBeNull();
});

const LONG = 'a'.repeat(64);

test.each<[string, Omit<MemberInput, 'memberId' | 'name'>]>([
  ['no address', { email: '' }],
  ['an address without @', { email: 'ann' }],
  ['two addresses', { email: 'ann@app.example,bob@app.example' }],
  ['an address with a name', { email: 'Ann <ann@app.example>' }],
  ['a line break', { email: 'ann@app.example\r\nBcc: bob@app.example' }],
  ['a line break at the end', { email: 'ann@app.example\n' }],
  ['a NUL', { email: 'ann\0@app.example' }],
  ['quotes', { email: '"ann"@app.example' }],
  ['a long local part', { email: `a${LONG}@app.example` }],
  ['a long address', { email: `ann@${[LONG, LONG, LONG, LONG].map((one) => one.slice(1)).join('.')}` }],
  ['letters that are not of ASCII', { email: 'änn@app.example' }],
  ['no language', { locale: 'not a language' }],
  ['a long language', { locale: `de-${'x-abcdefgh'.repeat(10)}` }],
  ['no zone', { timeZone: 'Mars/Olympus' }],
])('%s is refused, and changes nothing', async (_what, input) => {
  await using parts = await openParts();
  const before = { email: 'ann@app.example', locale: 'de', timeZone: 'UTC' };
  await stored(parts, before);
  const [field] = Object.keys(input);
  await expect(stored(parts, input)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    issues: [{ path: ['members', 0, field] }],
  });
  expect((await parts.core.members.withEmail(['ann'])).get('ann')).toEqual(before);
});

test('reads for rules and names are without it', async () => {
  await using parts = await openParts();
  await stored(parts, { email: 'ann@app.example', locale: 'de', timeZone: 'UTC' });
  const { members } = parts.core;
  const found = [await members.find('ann'), await members.findByIds(['ann']), await members.findFew(['ann'])];
  expect(JSON.stringify(found)).not.toMatch(/app\.example|contact/);
});
