import { describe, expect, test } from 'vitest';
import { encodePosition } from '../../../src/domain/cursor.ts';
import { storedId } from '../../../src/domain/stored-id.ts';
import { cursorSeal, UNSEALED } from '../../../src/core/cursor-seal.ts';

const KEY = Buffer.alloc(32, 7);
const seal = cursorSeal(KEY);
const ANN = storedId('acme', 'ann');
const ANN_ELSEWHERE = storedId('other', 'ann');
const cursor = encodePosition('feed', {
  time: new Date(1_700_000_000_000),
  actionId: 'a'.repeat(24),
});

describe('a sealed cursor', () => {
  test('opens in its tenant, also in another process and for another member', () => {
    const shown = seal.shown(ANN, cursor);
    expect(shown).not.toBe(cursor);
    expect(seal.given(ANN, shown)).toBe(cursor);
    expect(cursorSeal(KEY).given(storedId('acme', 'bob'), shown)).toBe(cursor);
  });

  test('is always encoded the same way, and differently in another tenant', () => {
    expect(seal.shown(ANN, cursor)).toBe(seal.shown(ANN, cursor));
    expect(seal.shown(ANN_ELSEWHERE, cursor)).not.toBe(seal.shown(ANN, cursor));
  });

  test('reveals nothing of its contents', () => {
    const shown = Buffer.from(seal.shown(ANN, cursor), 'base64url');
    const open = Buffer.from(cursor, 'base64url');
    for (let at = 0; at + 4 <= open.length; at++)
      expect(shown.includes(open.subarray(at, at + 4))).toBe(false);
  });

  test.each([
    ['one of another tenant', () => seal.shown(ANN_ELSEWHERE, cursor)],
    ['one that was never sealed', () => cursor],
    ['one of another installation', () => cursorSeal(Buffer.alloc(32, 8)).shown(ANN, cursor)],
    ['a shortened one', () => seal.shown(ANN, cursor).slice(0, -4)],
    ['one with another spelling', () => `${seal.shown(ANN, cursor)}=`],
    ['a text of nothing', () => 'x'],
    ['an empty text', () => ''],
  ])('is rejected if it is %s', (_name, text) => {
    expect(seal.given(ANN, text())).toBe('');
  });

  test('is rejected if any bit is changed', () => {
    const bytes = Buffer.from(seal.shown(ANN, cursor), 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8((changed[at] ?? 0) ^ 1, at);
      expect(seal.given(ANN, changed.toString('base64url'))).toBe('');
    }
  });
});

test('without tenants cursors are not sealed', () => {
  expect(UNSEALED.shown('ann', cursor)).toBe(cursor);
  expect(UNSEALED.given('ann', cursor)).toBe(cursor);
});

test('a caller without a tenant gets no cursor if there are tenants', () => {
  expect(() => seal.shown('ann', cursor)).toThrow('the reader of a cursor has none');
  expect(() => seal.given('ann', cursor)).toThrow('the reader of a cursor has none');
});
