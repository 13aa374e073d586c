import { expect, test } from 'vitest';
import { searchOf, termsSought } from '../../../src/features/directory/store/name-search.ts';

function finds(text: string, name: string): boolean {
  const { terms } = searchOf('x', name);
  const sought = termsSought(text, false);
  return sought.length > 0 && sought.every((term) => terms.includes(term));
}

const NAMES = [
  ...[
    'Ann Smith',
    "Dan O'Brien",
    'Beatriz Ångström',
    'Jean-Luc Müller',
    'Øystein Straße',
    "D'Artagnan d’Arc",
  ],
  ...[
    '佐々木小次郎',
    '陈独秀',
    '株式会社ソフトバンク',
    '王小明',
    '東京特許許可局 第2課',
    'ﾊﾝｶﾞﾘｰ料理',
    'スタジオジブリ',
  ],
  ...[
    '김철수',
    '한국전력공사',
    'สมชาย ใจดี',
    'กรุงเทพมหานคร',
    'ភាសាខ្មែរ',
    'မြန်မာ',
    'Νίκος Παπαδόπουλος',
    'İstanbul',
  ],
  ...['محمد بن سلمان', 'א"ב שלום', 'हिन्दी भाषा', 'АВС3東京', 'ﬁne ㌖ ½', '𝐀𝐁', 'a\u0301b', '\u1f82\u0390'],
  'one two three four five six seven eight nine ten eleven twelve thirteen fourteen',
  '株式会社'.repeat(40),
  '\ufdfa'.repeat(30),
];

test.each(NAMES)('%s is found while it is typed', (name) => {
  const letters = Array.from(name).slice(0, 100);
  const lost = letters
    .map((_letter, index) => letters.slice(0, index + 1).join(''))
    .filter((typed) => /[\p{L}\p{N}]/u.test(typed) && !finds(typed, name));
  expect(lost).toEqual([]);
});

test.each([
  ['obrien', "Dan O'Brien"],
  ['o’brien', "Dan O'Brien"],
  ["o'brien", 'Dan OBrien'],
  ['brien', "Dan O'Brien"],
  ['o brien', "Dan O'Brien"],
  ['小次郎', '佐々木小次郎'],
  ['郎', '佐々木小次郎'],
  ['小次郎 佐々木', '佐々木小次郎'],
  ['東京 ソフト', 'ソフトバンク東京支店'],
])('%s finds %s', (text, name) => {
  expect(finds(text, name)).toBe(true);
});

test.each([
  ['小郎', '佐々木小次郎'],
  ['rien', "Dan O'Brien"],
  ['an smith', 'Ann Smith'],
])('%s does not find %s', (text, name) => {
  expect(finds(text, name)).toBe(false);
});

test('a name has some hundred terms at most', () => {
  for (const name of ['ab '.repeat(170), '漢字仮名'.repeat(128), "a'b".repeat(170), '\ufdfa'.repeat(512)])
    expect(searchOf('x', name).terms.length).toBeLessThanOrEqual(301);
});
