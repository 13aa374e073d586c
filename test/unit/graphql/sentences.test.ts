import { expect, test } from 'vitest';
import { plainSentence } from '../../../src/graphql/sentences.ts';

const ann = { name: 'Ann' };

test.each([
  [[ann, ' liked ', { name: 'C++' }], 'Ann liked C++'],
  [[ann, ' liked ', { name: 'שלום 1' }], '\u2068Ann\u2069 liked \u2068שלום 1\u2069'],
  [[ann, ' أعجب بـ ', { name: 'C++' }], '\u2068Ann\u2069 أعجب بـ \u2068C++\u2069'],
  [[ann, ' liked ', { name: '\u202egnp.exe' }], '\u2068Ann\u2069 liked \u2068gnp.exe\u2069'],
])('names are isolated in text with both directions: %j', (pieces, expected) => {
  expect(plainSentence(pieces)).toBe(expected);
});
