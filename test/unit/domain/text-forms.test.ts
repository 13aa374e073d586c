import { expect, test } from 'vitest';
import {
  comparable,
  isolated,
  isVisible,
  reactionAmong,
  reactionForm,
  tagForm,
} from '../../../src/domain/text-forms.ts';

test.each([
  ["don't", 'don’t', 'DON´T', 'don`t', 'donʼt'],
  ['launch', 'lau\u00adnch', 'lau\u200bnch', '\u200flaunch\u200f', 'ＬＡＵＮＣＨ', 'l\u2060aunch\ufe0f'],
  ['strasse', 'straße', 'STRASSE', 'STRAẞE'],
  ['istanbul', 'İstanbul', 'ISTANBUL', 'ıstanbul', 'I\u0307stanbul'],
  ['οδοσ', 'οδος', 'ΟΔΟΣ'],
  ['café', 'cafe\u0301', 'CAFÉ', 'CAFE\u0301'],
  ['ﬁne', 'fine', 'FINE', 'FIne'],
])('%s is compared like %j', (form, ...others) => {
  expect(others.map(comparable)).toEqual(others.map(() => comparable(form)));
});

test('every character equals its capital and small letter in comparison, and does so again', () => {
  const odd: string[] = [];
  for (let code = 0; code < 0x20000; code += 1) {
    const text = String.fromCodePoint(code);
    if (!text.isWellFormed()) continue;
    const form = comparable(text);
    const forms = [text.toLowerCase(), text.toUpperCase(), form].map(comparable);
    if (forms.some((other) => other !== form)) odd.push(code.toString(16));
  }
  expect(odd).toEqual([]);
});

test('a tag is the same however its accents are encoded', () => {
  expect(tagForm('cafe\u0301')).toBe(tagForm('café'));
});

test('a reaction matches the configured one with or without a variation selector', () => {
  expect(reactionForm('❤️')).toBe(reactionForm('❤'));
  expect(reactionAmong(['👍', '❤️'], '❤')).toBe('❤️');
  expect(reactionAmong(['👍', '❤'], '❤\ufe0e')).toBe('❤');
  expect(reactionAmong(['👍'], '❤')).toBeUndefined();
  // A skin tone is no variation.
  expect(reactionAmong(['👍'], '👍🏽')).toBeUndefined();
});

test.each([
  ['Ann', true],
  ['李', true],
  ['.', true],
  ['🎉', true],
  ['', false],
  [' \u00a0\u3000', false],
  ['\u200b\u2060\ufeff', false],
  ['\u3164\u115f\u2800', false],
  ['\u0301', false],
])('%j is visible: %s', (text, expected) => {
  expect(isVisible(text)).toBe(expected);
});

test('an isolated text does not affect the direction of what follows', () => {
  expect(isolated('evil\u2069\u202egnp')).toBe('\u2068evilgnp\u2069');
});
