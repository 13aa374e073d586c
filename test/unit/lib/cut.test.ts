import { expect, test } from 'vitest';
import { cut, shortened } from '../../../src/lib/cut.ts';
import { fc } from '../../support/fast-check.ts';

test('a cut text is a beginning of it, well-formed, and at most one unit shorter than it may be', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 12 }), (text, most) => {
      const short = cut(text, most);
      expect(text.startsWith(short)).toBe(true);
      expect(short.isWellFormed()).toBe(true);
      expect(short.length).toBeLessThanOrEqual(most);
      if (short !== text) expect(short.length).toBeGreaterThanOrEqual(most - 1);
    }),
  );
});

test('a shortened text shows that it is', () => {
  expect(shortened('abc', 3)).toBe('abc');
  expect(shortened('ab😀d', 3)).toBe('ab…');
});
