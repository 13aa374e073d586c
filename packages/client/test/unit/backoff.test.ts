import { describe, expect, test } from 'vitest';
import { backoffMs, pause } from '../../src/backoff.ts';

describe('backoffMs', () => {
  const backoff = { firstMs: 500, maxMs: 3_000 };

  test.each([
    [1, 500],
    [2, 1_000],
    [3, 2_000],
    [4, 3_000],
    [5, 3_000],
    [5_000, 3_000],
  ])('after failure %i waits between half and all of %i ms', (failures, longest) => {
    expect(backoffMs(backoff, failures, () => 0)).toBe(longest / 2);
    expect(backoffMs(backoff, failures, () => 1)).toBe(longest);
  });

  test('differs between clients', () => {
    const waits = new Set(Array.from({ length: 100 }, () => backoffMs(backoff, 3)));
    expect(waits.size).toBeGreaterThan(90);
  });
});

describe('pause', () => {
  test('ends on its own', async () => {
    await pause(1, new AbortController().signal);
  });

  test('ends when its signal aborts, before or during it, whatever its length', async () => {
    const during = new AbortController();
    const paused = pause(2 ** 31 - 1, during.signal);
    during.abort();
    await paused;
    await pause(2 ** 31 - 1, AbortSignal.abort());
  });
});
