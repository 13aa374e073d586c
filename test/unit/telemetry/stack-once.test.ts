import { expect, test } from 'vitest';
import { createStackOnce } from '../../../src/telemetry/stack-once.ts';

test('logs a stack once per cause, and again after five minutes without it', () => {
  let now = 0;
  const failure = createStackOnce(() => now);
  const full = new Error('No space left on device');
  const bug = new TypeError('No space left on device');
  expect(failure(full)).toEqual({ err: full });
  for (let n = 0; n < 5; n += 1) {
    now += 200_000;
    expect(failure(new Error('No space left on device'))).toEqual({ reason: 'No space left on device' });
  }
  expect(failure(bug)).toEqual({ err: bug });
  now += 300_000;
  expect(failure(full)).toEqual({ err: full });
  expect(failure('no error')).toEqual({ err: 'no error' });
});

test('remembers at most a hundred causes', () => {
  const failure = createStackOnce(() => 0);
  const first = new Error('0');
  for (let n = 0; n <= 100; n += 1) failure(new Error(String(n)));
  expect(failure(first)).toEqual({ err: first });
  expect(failure(new Error('100'))).toEqual({ reason: '100' });
});
