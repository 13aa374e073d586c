import { describe, expect, test, vi } from 'vitest';
import { comparable, Phrases, wordsOf } from '../../../src/domain/text-forms.ts';
import { fc } from '../../support/fast-check.ts';

const words = (text: string): string[] => wordsOf(comparable(text));

/** What the segmenter says of the whole text at once. */
function segmented(text: string): string[] {
  const segments = new Intl.Segmenter('en', { granularity: 'word' }).segment(text);
  return [...segments].flatMap(({ segment, isWordLike }) => (isWordLike === true ? [segment] : []));
}

describe('the words of a text', () => {
  test.each([
    ['Mary  Fanning, of\nSite-7!', ['mary', 'fanning', 'of', 'site', '7']],
    ["Don't stop", ["don't", 'stop']],
    ['Ｆｕｌｌ ﬁne', ['full', 'fine']],
    ['ÀÉ ae\u0301', ['àé', 'aé']],
    ['東京に行く', segmented('東京に行く')],
    ['🎉 – …', []],
    ['', []],
  ])('of %j', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  const piece = fc.oneof(
    fc.constantFrom(
      ' ',
      '\u00a0',
      '\n',
      "'",
      '.',
      '_',
      '-',
      '\ufeff',
      '\u200d',
      '\u0301',
      '3.5',
      'с',
      'β',
      'ά',
    ),
    fc.constantFrom('สวัสดี', '漢字', 'カナ', 'かな', '한국', 'א"ב', '🇩🇪', '👩‍👩‍👧', 'İ', 'ß'),
    fc.constantFrom(...Array.from('!"#$%&\'()*+,-./:;<=>?@[]^_`{|}~abz059∫☀…—“⁄⁗·‧')),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );

  test('equal those of the segmenter for any text, also if it is segmented in pieces', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = comparable(pieces.join(''));
        expect(wordsOf(text)).toEqual(segmented(text));
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Longest text that the segmenter is given while something is done. */
function longestSegmented(work: () => void): number {
  const spy = vi.spyOn(Intl.Segmenter.prototype, 'segment');
  try {
    work();
    return Math.max(0, ...spy.mock.calls.map(([text]) => text.length));
  } finally {
    spy.mockRestore();
  }
}

describe('a long text without spaces', () => {
  test.each([
    'ภาษาไทยสวัสดีครับผมชื่อ',
    'ភាសាខ្មែរ',
    '今日は天気がいいカタカナ',
    '中文字符测试今天天气很好',
    '👩‍👩‍👧🇩🇪',
    "don't,3.5;",
  ])('of %j is split into short pieces with the same words', (unit) => {
    const text = comparable(unit.repeat(Math.ceil(8_192 / unit.length)));
    let found: string[] = [];
    expect(longestSegmented(() => (found = wordsOf(text)))).toBeLessThanOrEqual(256);
    expect(found).toEqual(segmented(text));
  });

  test.each([1, 255, 256, 257, 1_000, 8_191])('stays a single word of %i letters if it is one', (length) => {
    const text = `${"a'".repeat(length)}home`;
    expect(wordsOf(text)).toEqual([text]);
  });
});

describe('phrases', () => {
  const word = fc.constantFrom('a', 'b', 'c');

  test('match consecutive words only', () => {
    const phrase = fc.array(word, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(phrase, { maxLength: 4 }), fc.array(word, { maxLength: 12 }), (phrases, row) => {
        const expected = phrases.some((one) => ` ${row.join(' ')} `.includes(` ${one.join(' ')} `));
        const compared = new Phrases(phrases);
        expect(compared.areIn(row)).toBe(expected);
        if (expected) expect(compared.mayBeIn(row.join(' '))).toBe(true);
      }),
    );
  });

  test('are not searched for in a text that lacks one of their words', () => {
    const phrases = new Phrases([['went', 'home'], ['party']]);
    expect(phrases.mayBeIn('went away')).toBe(false);
    expect(phrases.mayBeIn('parties')).toBe(false);
    expect(phrases.mayBeIn('home he went')).toBe(true);
  });
});
