import { expect, test, vi } from 'vitest';
import { Confirmed } from '../../../src/storage/confirmed.ts';

test('a value is found for the state that it is of alone, until it ends, and the newest one of a key', () => {
  const known = new Confirmed<object, number>(10);
  const [first, second] = [{ n: 1 }, { n: 2 }];
  expect(known.find('a', 1)).toBeNull();
  known.keep('a', 1, first);
  expect(known.find('a', 1)).toBe(first);
  expect(known.find('a', 2)).toBeNull();
  expect(known.find('b', 1)).toBeNull();
  known.keep('a', 2, second, Date.now() + 1_000);
  expect(known.find('a', 1)).toBeNull();
  expect(known.find('a', null)).toBe(second);
  vi.useFakeTimers({ now: Date.now() + 1_000, toFake: ['Date'] });
  try {
    expect(known.find('a', 2)).toBeNull();
    expect(known.find('a', null)).toBeNull();
  } finally {
    vi.useRealTimers();
  }
});

test('what was used longest ago leaves first when the sizes are more than the most', () => {
  const known = new Confirmed<readonly string[]>(3, ({ length }) => length);
  known.keep('a', '1', ['x']);
  known.keep('b', '1', ['x']);
  known.find('a', '1');
  known.keep('c', '1', ['x', 'y']);
  expect(['a', 'b', 'c'].filter((key) => known.find(key, '1') !== null)).toEqual(['a', 'c']);
  known.keep('a', '2', ['x', 'y', 'z', 'more']);
  expect(known.find('a', '2')).toBeNull();
});
