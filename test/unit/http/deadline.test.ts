import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { callAt } from '../../../src/http/deadline.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

test('calls at the time, however far away it is', async () => {
  const days = 60 * 86_400_000;
  const callback = vi.fn();
  callAt(new Date(days), callback);
  await vi.advanceTimersByTimeAsync(days - 1);
  expect(callback).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(callback).toHaveBeenCalledOnce();
});

test('calls at once for a time that is past, but not before the caller has gone on', async () => {
  const callback = vi.fn();
  callAt(new Date(-1), callback);
  expect(callback).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(callback).toHaveBeenCalledOnce();
});

test('does not call when disposed before, and leaves no timer', async () => {
  const callback = vi.fn();
  callAt(new Date(10), callback)[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(20);
  expect(callback).not.toHaveBeenCalled();
});

test('leaves nothing behind when disposed, for however many different times it was set', () => {
  vi.useRealTimers();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const many = 50_000;
  const tomorrow = Date.now() + 86_400_000;
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let n = 0; n < many; n++) callAt(new Date(tomorrow - 10 * n), () => undefined)[Symbol.dispose]();
  collect();
  expect((process.memoryUsage().heapUsed - before) / many).toBeLessThan(50);
});
