import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Linter } from 'eslint';
import { expect, test } from 'vitest';
import { findWords, plainWords } from '../../scripts/plain-words.js';

function wordsIn(code: string): string[] {
  const config = {
    plugins: { words: { rules: { plain: plainWords } } },
    rules: { 'words/plain': 2 },
    languageOptions: { parserOptions: { ecmaFeatures: { jsx: true } } },
  } as const;
  return new Linter().verify(code, config).map(({ message }) => message.slice(0, message.indexOf(' is not')));
}

test('finds words in comments, strings and names, also across lines', () => {
  expect(wordsIn('// The feed is made anew')).toEqual(['"anew"']);
  expect(wordsIn('/**\n * It reconnects by\n * itself.\n */')).toEqual(['"by itself"']);
  expect(wordsIn("f('Whoever', `those who ${x}`)")).toEqual(['"whoever"', '"those who"']);
  expect(wordsIn('passBy(SharedLift, lift, liftedBy)')).toEqual(['"passBy"', '"SharedLift"', '"lift"']);
  expect(wordsIn('told(isTold, toldBefore)')).toEqual(['"told"', '"isTold"', '"toldBefore"']);
});

test('finds words in the text and attributes of elements', () => {
  expect(wordsIn('x = <p title="for now">It reconnects <b>by itself</b></p>')).toEqual([
    '"for now"',
    '"by itself"',
  ]);
});

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGES = ['', 'bench', ...['packages', 'bench'].flatMap(foldersOf)].filter((folder) =>
  existsSync(join(PROJECT, folder, 'package.json')),
);

function foldersOf(path: string): string[] {
  return readdirSync(join(PROJECT, path)).map((name) => `${path}/${name}`);
}

test.each(PACKAGES)('the package in "%s" has a description in plain words', (folder) => {
  const text = readFileSync(join(PROJECT, folder, 'package.json'), 'utf8');
  const { description } = JSON.parse(text) as { description: string };
  expect(description).toMatch(/\w/);
  expect([...findWords(description)]).toEqual([]);
});

test('ignores words that only look similar', () => {
  expect(wordsIn("const renewal = replacing(uplifting, 'told by itselfish', victims);")).toEqual([]);
  expect(wordsIn('isUntold(tolds, toldAudience)')).toEqual([]);
});
