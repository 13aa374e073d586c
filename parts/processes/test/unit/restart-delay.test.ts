import { expect, it } from 'vitest';
import { restartDelay } from '../../src/group.ts';

const SHORT_MS = 100;

it('doubles the delay after each exit in a row, up to half a minute', () => {
  const waits: number[] = [];
  for (let failures = 0; waits.length < 9;) {
    const next = restartDelay(failures, SHORT_MS);
    waits.push(next.again);
    failures = next.failures;
  }
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

it('starts with the shortest delay again after the process ran for a minute', () => {
  expect(restartDelay(7, 60_000)).toEqual({ again: 250, failures: 1 });
  expect(restartDelay(7, 59_999)).toEqual({ again: 30_000, failures: 8 });
});
