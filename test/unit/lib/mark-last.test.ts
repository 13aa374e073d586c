import { expect, test } from 'vitest';
import { markLast } from '../../../src/lib/prefetch.ts';

async function marked(values: readonly string[]): Promise<string> {
  async function* source(): AsyncGenerator<string, void, undefined> {
    for (const value of values) yield await Promise.resolve(value);
  }
  const texts: string[] = [];
  for await (const { value, isLast } of markLast(source())) texts.push(isLast ? `${value}.` : value);
  return texts.join(' ');
}

test('says which value is the last', async () => {
  expect(await marked([])).toBe('');
  expect(await marked(['a'])).toBe('a.');
  expect(await marked(['a', 'b', 'c'])).toBe('a b c.');
});
