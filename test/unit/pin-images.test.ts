import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FILES, pinned } from '../../scripts/pin-images.js';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;

test.each(FILES)('adds a digest to every image of %s, and replaces an old one', (file) => {
  const text = read(file);
  const images: string[] = [];
  const once = pinned(text, (image) => {
    images.push(image);
    return digest('a');
  });
  // What is built here is in no registry.
  const named = [...text.matchAll(/^(?:FROM|\s*image:) (?!fanfare)(\S+)/gm)].map(
    ([, image]) => image?.split('@')[0],
  );
  expect(images).toEqual(named);
  expect(images).not.toEqual([]);
  const twice = pinned(once, () => digest('b'));
  expect(once.split(digest('a'))).toHaveLength(images.length + 1);
  expect(twice).toBe(once.replaceAll(digest('a'), digest('b')));
});

test('rejects a response without a digest', () => {
  expect(() => pinned('FROM node:22.0.0', () => '')).toThrow('The digest of node:22.0.0 is ""');
});
