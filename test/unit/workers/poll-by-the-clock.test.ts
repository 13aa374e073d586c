import { expect, test } from 'vitest';
import { pollByTheClockMs } from '../../../src/jobs/job.ts';

test.each([
  [10, 5],
  [1_000, 500],
  [60_000, 500],
])('finds due work well within a second: every %i ms for other work, %i ms for this', (pollMs, expected) => {
  expect(pollByTheClockMs(pollMs)).toBe(expected);
});
