import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Outage } from '../../../src/lib/outage.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

test('waits longer after each failure in a row, up to a limit, and not at all once it is over', () => {
  const outage = new Outage(100, 500);
  expect(outage.waitMs).toBe(0);
  for (const wait of [100, 200, 400, 500, 500]) {
    expect(outage.failed()).toBe(wait);
    vi.advanceTimersByTime(wait);
    expect(outage.waitMs).toBe(0);
  }
  expect(outage.failed()).toBe(500);
  outage.over();
  expect(outage.waitMs).toBe(0);
  expect(outage.failed()).toBe(100);
});

test('counts simultaneous failures as one', () => {
  const outage = new Outage(100, 500);
  outage.failed();
  vi.advanceTimersByTime(30);
  expect([outage.failed(), outage.failed()]).toEqual([70, 70]);
});
