import { expect, test } from 'vitest';
import { anySpanContains, spanContains } from '../../../src/domain/follow-span.ts';

const at = (ms: number, id = 'b') => ({ id, recorded: new Date(ms) });

test('contains recordings from its start up to but not including its end', () => {
  const span = { since: new Date(10), until: new Date(20) };
  expect([9, 10, 15, 19, 20, 21].map((ms) => spanContains(span, at(ms)))).toEqual([
    false,
    true,
    true,
    true,
    false,
    false,
  ]);
});

test('has no end while it is open', () => {
  expect(spanContains({ since: new Date(10) }, at(8.64e15))).toBe(true);
});

test('splits a batch recorded in one millisecond by action id', () => {
  const span = { since: new Date(10), sinceAction: 'b' };
  expect(['a', 'b', 'c'].map((id) => spanContains(span, at(10, id)))).toEqual([false, true, true]);
  expect(spanContains(span, at(11, 'a'))).toBe(true);
});

test('contains nothing between two spans', () => {
  const spans = [{ since: new Date(10), until: new Date(20) }, { since: new Date(30) }];
  expect([15, 25, 35].map((ms) => anySpanContains(spans, at(ms)))).toEqual([true, false, true]);
  expect(anySpanContains([], at(15))).toBe(false);
});
