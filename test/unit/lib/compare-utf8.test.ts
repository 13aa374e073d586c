import { expect, test } from 'vitest';
import { compareUtf8 } from '../../../src/lib/byte-text.ts';
import { fc } from '../../support/fast-check.ts';

test('orders well-formed strings like their UTF-8 bytes', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom(
        'a',
        'z',
        '\u007f',
        '\u00ff',
        '\ud7ff',
        '\ue000',
        '\uffff',
        '\u{10000}',
        '\u{10ffff}',
      ),
    }),
  );
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    { numRuns: 2_000 },
  );
});
