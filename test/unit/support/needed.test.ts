import { expect, test } from 'vitest';
import { isLeftOut } from '../../support/needed.ts';

test('a test is skipped if the machine lacks what it needs, but never in CI', () => {
  expect(isLeftOut(false, {})).toBe(true);
  expect(isLeftOut(false, { CI: 'true' })).toBe(false);
  expect(isLeftOut(false, { CI: 'false' })).toBe(true);
  expect(isLeftOut(true, {})).toBe(false);
  expect(isLeftOut(true, { CI: 'true' })).toBe(false);
});
