import { describe, expect, test } from 'vitest';
import {
  areBeside,
  idBeside,
  idRangeOf,
  isTenantName,
  plainId,
  storedId,
  tenantOf,
  withoutTenant,
  withoutTenantIn,
} from '../../../src/domain/stored-id.ts';

test.each(['a', 'acme', 'acme-2', '0', 'a'.repeat(63)])('%j is a valid name', (name) => {
  expect(isTenantName(name)).toBe(true);
});

test.each(['', 'Acme', '-a', 'a-', 'a_b', 'a b', 'a\u001fb', 'ä', 'a'.repeat(64), 7, null, ['a'], { a: 1 }])(
  '%j is not a valid name',
  (name) => {
    expect(isTenantName(name)).toBe(false);
  },
);

test('a stored id contains its tenant and its id', () => {
  const id = storedId('acme', 'ann');
  expect([tenantOf(id), plainId(id)]).toEqual(['acme', 'ann']);
  expect([tenantOf('ann'), plainId('ann')]).toEqual([null, 'ann']);
  // An id never has the separator; if one had, it would stay what it is within its tenant.
  expect([tenantOf(storedId('acme', id)), plainId(storedId('acme', id))]).toEqual(['acme', id]);
});

test('ids of a tenant differ from those of other tenants and of none', () => {
  expect(areBeside(storedId('acme', 'ann'), storedId('acme', 'bob'))).toBe(true);
  expect(areBeside(storedId('acme', 'ann'), storedId('acm', 'ann'))).toBe(false);
  expect(areBeside(storedId('acme', 'ann'), 'ann')).toBe(false);
  expect(areBeside('ann', 'bob')).toBe(true);
  expect([idBeside(storedId('acme', 'ann'), 'bob'), idBeside('ann', 'bob')]).toEqual([
    storedId('acme', 'bob'),
    'bob',
  ]);
});

test('the range of a tenant contains exactly its ids', () => {
  const { from, before } = idRangeOf('acme');
  const isIn = (id: string): boolean => id >= from && id < before;
  expect(['', 'ann', '\u{10ffff}'].map((id) => isIn(storedId('acme', id)))).toEqual([true, true, true]);
  const others = [storedId('acm', 'e'), storedId('acme-2', 'ann'), storedId('acme2', ''), 'acme', 'ann'];
  expect(others.map(isIn)).toEqual(others.map(() => false));
});

describe('outgoing data', () => {
  const id = storedId('acme', 'ann');

  test('contains no tenant anywhere in a text', () => {
    expect(withoutTenant('acme', `${id} and ${id}`)).toBe('ann and ann');
    expect(withoutTenant('acme', `got ${JSON.stringify(id)}`)).toBe('got "ann"');
    expect(withoutTenant('acme', 'acme')).toBe('acme');
  });

  test('is searched completely, and dates stay dates', () => {
    const at = new Date(0);
    expect(withoutTenantIn('acme', { a: [{ b: id, at }], n: null, k: 1 })).toEqual({
      ...{ a: [{ b: 'ann', at }], n: null, k: 1 },
    });
  });
});
