import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { collectionsMarkdown } from '../../../schema/collections-table.ts';
import { idsIn, mapIds } from '../../../src/storage/documents/ids.ts';

const withoutPadding = (text: string) => text.replaceAll(/ +/gu, ' ').replaceAll(/-{3,}/gu, '---');

it('docs/collections.md has the table of all collections (npm run collections writes it)', () => {
  const text = readFileSync(new URL('../../../docs/collections.md', import.meta.url), 'utf8');
  const [, written = ''] = text.split('-->');
  expect(withoutPadding(written.trim())).toBe(withoutPadding(collectionsMarkdown().join('\n')));
});

const KINDS = { member: ['by', 'of.id', 'list[].id'], key: ['keys[]'], stamp: ['names[]'] };
const DOCUMENT = {
  by: 'ann',
  of: { id: 'bob', kept: 1 },
  list: [{ id: 'cid' }, { other: 'dan' }],
  keys: ['user:ann', 'team:t1', 'public'],
  names: ['ann\t0000000001'],
  text: 'ann',
};

it('changes the ids at the declared paths, and nothing else', () => {
  const before = structuredClone(DOCUMENT);
  expect(mapIds(DOCUMENT, KINDS, (id) => id.toUpperCase())).toEqual({
    by: 'ANN',
    of: { id: 'BOB', kept: 1 },
    list: [{ id: 'CID' }, { other: 'dan' }],
    keys: ['user:ANN', 'team:T1', 'public'],
    names: ['ANN\t0000000001'],
    text: 'ann',
  });
  expect(DOCUMENT).toEqual(before);
});

it('finds all ids at the declared paths', () => {
  expect(idsIn(DOCUMENT, KINDS)).toEqual(['ann', 'bob', 'cid', 'ann', 't1', 'ann']);
  expect(idsIn({ of: null }, KINDS)).toEqual([]);
});
