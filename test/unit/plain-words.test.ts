import { Linter } from 'eslint';
import { expect, test } from 'vitest';
import { plainWords } from '../../scripts/plain-words.js';

function wordsIn(code: string): string[] {
  const config = {
    plugins: { words: { rules: { plain: plainWords } } },
    rules: { 'words/plain': 2 },
  } as const;
  return new Linter().verify(code, config).map(({ message }) => message.slice(0, message.indexOf(' is not')));
}

test('finds words in comments, strings and names, across lines too', () => {
  expect(wordsIn('// The feed is made anew')).toEqual(['"anew"']);
  expect(wordsIn('/**\n * It reconnects by\n * itself.\n */')).toEqual(['"by itself"']);
  expect(wordsIn("f('Whoever', `those who ${x}`)")).toEqual(['"whoever"', '"those who"']);
  expect(wordsIn('passBy(SharedLift, lift, liftedBy)')).toEqual(['"passBy"', '"SharedLift"', '"lift"']);
});

test('leaves words alone that only look alike', () => {
  expect(wordsIn("const renewal = replacing(uplifting, 'told by itselfish', victims);")).toEqual([]);
});
