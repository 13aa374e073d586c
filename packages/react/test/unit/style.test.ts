import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDER = new URL('../../', import.meta.url);

/** What a rule asks of any element, by its place among others: a browser then styles all rows of a list again when one comes or goes. */
const OF_ANY = /(?:^|[\s>~+]):(?:nth|first|last|only)-[\w-]+|[~+] \*/;

test('no rule asks of every element where it stands among others', () => {
  const rules = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.css'))
    .flatMap((name) => readFileSync(new URL(name, FOLDER), 'utf8').match(/[^{}]+(?=\{)/g) ?? [])
    .flatMap((selectors) => selectors.replaceAll(/\/\*[^]*?\*\//g, '').split(/,(?![^(]*\))/))
    .map((selector) => selector.trim());
  expect(rules.length).toBeGreaterThan(100);
  expect(rules.filter((selector) => OF_ANY.test(selector))).toEqual([]);
});
