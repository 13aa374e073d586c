import { expect, test, vi } from 'vitest';
import { MAX_NAME_LENGTH, MAX_TEXT_LENGTH, nameSchema, tagsSchema } from '../../../src/descriptors/define.ts';
import { MAX_ID_LENGTH, idSchema } from '../../../src/descriptors/id-schema.ts';
import { comparable, reactionAmong, wordsOf } from '../../../src/domain/text-forms.ts';
import { searchOf } from '../../../src/features/directory/store/name-search.ts';

/** Characters that grow most in a normal form, sort their marks, or have no spaces between words. */
const WORST = [
  ...['\ufdfa', '\ufdfb', '\u3316', '\u33af', '\u2a0c', '\u0390', '\u1f82', '\u0149', '\u1e9e', '\u0130'],
  ...['\u{1d160}', '\u{1d400}', '\u0301\u0327', '\u0344', '\uac01', '\u1100\u1161\u11a8', 'ﾊﾝｶﾞ'],
  ...['กรุงเทพ', '佐々木小次郎', 'ភាសាខ្មែរ', '👩‍👩‍👧🇩🇪', '\u00ad', "a'", 'a,', '⁗'],
];

/** UTF-16 units that normalisation and case mapping take and give, and that the segmenter is given. */
function workOf(work: () => unknown): { readonly mapped: number; readonly segmented: number } {
  let mapped = 0;
  const spies = (['normalize', 'toLowerCase', 'toUpperCase'] as const).map((name) => {
    const real = String.prototype[name];
    return vi.spyOn(String.prototype, name).mockImplementation(function (this: string, form?: string) {
      const result = real.call(this, form);
      // Marks in a row are sorted one by one.
      const sorted = (this.match(/\p{M}{2,}/gu) ?? []).reduce((sum, marks) => sum + marks.length ** 2, 0);
      mapped += this.length + result.length + sorted;
      return result;
    });
  });
  const segment = vi.spyOn(Intl.Segmenter.prototype, 'segment');
  try {
    work();
    const segmented = segment.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    return { mapped, segmented };
  } finally {
    for (const spy of [...spies, segment]) spy.mockRestore();
  }
}

function filled(character: string, length: number): string {
  return `a${character.repeat(length)}`.slice(0, length).toWellFormed().replaceAll('\ufffd', 'a');
}

const ONE_MIB = 1_048_576;
/** What takes a text, and the longest that it looks at. */
const INPUTS: readonly (readonly [string, number, (text: string) => unknown])[] = [
  ['a name or label', MAX_NAME_LENGTH, (text) => searchOf('x', text)],
  ['a text that is matched with phrases', MAX_TEXT_LENGTH, (text) => wordsOf(comparable(text))],
  ['a tag', 64, (text) => tagsSchema.safeParse([text])],
  ['a reaction', 128, (text) => reactionAmong(['👍', '❤️'], text)],
  ['an id', MAX_ID_LENGTH, (text) => idSchema.safeParse(text)],
  ['a text that is too long for a name', MAX_NAME_LENGTH, (text) => nameSchema.safeParse(text)],
];

test.each(INPUTS)('%s of %i characters costs little, whatever they are', (_name, length, take) => {
  for (const character of WORST)
    for (const size of [length, length + 1, ONE_MIB]) {
      const { mapped, segmented } = workOf(() => take(filled(character, size)));
      // Some ten passes over the text, one of which may make eighteen characters of one for a kilobyte.
      const most = { mapped: 60 * length + 30_000, segmented: 3 * length };
      expect([character, mapped <= most.mapped, segmented <= most.segmented]).toEqual([
        character,
        true,
        true,
      ]);
    }
});

test('nothing else looks at a text that is too long', () => {
  const { error } = nameSchema.safeParse(`${'\u0000'.repeat(MAX_NAME_LENGTH)}\ud800`);
  expect(error?.issues.map(({ message }) => message)).toEqual(['Must be at most 512 characters']);
});
