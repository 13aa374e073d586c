import { expect, test } from 'vitest';
import { dayOf } from '../../src/commands.ts';

test.each([
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2025-12-31T18:00Z', '2025-12-31T18:00:00.000Z'],
  ['2025-12-31T23:30-02:00', '2026-01-01T01:30:00.000Z'],
  ['2025-03-01T00:30+02:00', '2025-02-28T22:30:00.000Z'],
])('offloads what is older than %s', (text, expected) => {
  expect(dayOf(text).toISOString()).toBe(expected);
});

test.each([
  '2025-02-29',
  '2025-02-30',
  '2025-04-31T12:00Z',
  '2025-13-01',
  '2025-1-1',
  '2025',
  'yesterday',
  '',
])('rejects %j, which is not a day', (text) => {
  expect(() => dayOf(text)).toThrow(`--before got "${text}", expected a day`);
});
