import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { checkClock, watchClock } from '../../../src/features/operations/clock-watch.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

it('warns once while the clocks differ, once when they agree again, and again the next time', () => {
  const notices: string[] = [];
  let skewMs = 0;
  const observer = {
    skewed: (seconds: number) => notices.push(`skewed ${String(seconds)}`),
    right: (seconds: number) => notices.push(`right ${String(seconds)}`),
  };
  const later = (skew: number): void => {
    skewMs = skew;
    vi.advanceTimersByTime(30_000);
  };
  const watch = watchClock(observer, { skew: () => skewMs });
  later(1_000);
  expect(notices).toEqual([]);
  later(2_000);
  later(5_000);
  expect(notices).toEqual(['skewed 2']);
  later(500);
  later(0);
  expect(notices).toEqual(['skewed 2', 'right 0.5']);
  later(-3_000);
  expect(notices).toEqual(['skewed 2', 'right 0.5', 'skewed -3']);
  watch[Symbol.dispose]();
  later(0);
  expect(notices).toHaveLength(3);
});

it('is not ready above thirty seconds of skew, in either direction', async () => {
  await expect(checkClock({ skew: () => 30_000 })).resolves.toBeUndefined();
  await expect(checkClock({ skew: () => 31_000 })).rejects.toThrow("is 31 s ahead of the database's");
  await expect(checkClock({ skew: () => -31_000 })).rejects.toThrow("is 31 s behind the database's");
});
