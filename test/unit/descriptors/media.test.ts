import { expect, test } from 'vitest';
import { faultsOf } from '../../../src/descriptors/check.ts';
import { field } from '../../../src/descriptors/field.ts';
import { mediaSchema } from '../../../src/descriptors/media.ts';

const url = 'https://pictures.example/1.jpg?w=2#top';
const schema = mediaSchema(2);

test('a picture is stored with what was given, and without what was not', () => {
  const whole = { url, alt: 'Bread', kind: 'FILE', width: 1, height: 65_535, blurhash: '00TI:j' } as const;
  expect(schema.parse([whole, { url, alt: null, kind: null, width: null, height: null }])).toEqual([
    whole,
    { url, alt: '', kind: 'PICTURE' },
  ]);
});

test.each([
  ['no address', {}],
  ['an address without encryption', { url: 'http://pictures.example/1.jpg' }],
  ['a script', { url: 'javascript:alert(1)' }],
  ['an address within the page', { url: '/1.jpg' }],
  ['a password', { url: 'https://me:secret@pictures.example/' }],
  ['a long address', { url: `https://pictures.example/${'1'.repeat(2_048)}` }],
  ['a long text', { url, alt: 'a'.repeat(1_001) }],
  ['a text with NUL', { url, alt: '\0' }],
  ['another kind', { url, kind: 'FILM' }],
  ['one side', { url, width: 3 }],
  ['no size', { url, width: 0, height: 3 }],
  ['a size in parts of pixels', { url, width: 1.5, height: 3 }],
  ['a BlurHash that ends early', { url, blurhash: 'LEHV6nWB2yk8pyo0adR*.7kCMdn' }],
  ['a BlurHash with more than its size', { url, blurhash: '00TI:j1' }],
  ['a BlurHash of other letters', { url, blurhash: '00TI:"' }],
  ['no BlurHash', { url, blurhash: '' }],
  ['something else', { url, title: 'Bread' }],
])('a picture is refused with %s', (_what, given) => {
  expect(schema.safeParse([given]).success).toBe(false);
});

test('more pictures than a field has are refused before one is looked at', () => {
  const { error } = schema.safeParse([{ url }, { url }, {}]);
  expect(error?.issues.map(({ message }) => message)).toEqual(['Must be at most 2']);
});

const text = field.text({ shownAs: 'body' });
const stars = field.float({ max: 5, shownAs: 'rating' });

test.each([
  ['two bodies', { a: text, b: text }, 'b.shownAs: a is already the body of this type'],
  ['two ratings', { a: stars, b: stars }, 'b.shownAs: a is already the rating of this type'],
  [
    'two fields of pictures',
    { a: field.media(), b: field.media() },
    'b: a is already the media of this type',
  ],
  [
    'a rating without a best',
    { a: field.int({ shownAs: 'rating' }) },
    'a.shownAs: A rating is so many of max',
  ],
  [
    'a rating below 0',
    { a: field.int({ min: -1, max: 5, shownAs: 'rating' }) },
    'a.shownAs: A rating is not below 0',
  ],
  ['a name as body', { a: text, id: field.ref('x', { label: 'a' }) }, 'a.shownAs: a holds a name'],
  ['a text as rating', { a: { kind: 'text', options: { shownAs: 'rating' } } }, 'a.shownAs: Invalid input'],
  ['too many pictures', { a: field.media({ max: 11 }) }, 'a.max: Too big'],
])('a declaration is refused with %s', (_what, fields, fault) => {
  const [first, ...others] = faultsOf(
    { type: 'X', description: 'x', fields, summary: { en: '{actor}' } },
    'types[0]',
    ['en'],
  );
  expect(others).toEqual([]);
  expect(`${String(first?.path)}: ${String(first?.message)}`).toContain(`types[0].fields.${fault}`);
});
