import { queryObjects } from 'node:v8';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { callAt } from '../../src/http/limits/deadline.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

test('calls back at the given time, however far away it is', async () => {
  const days = 60 * 86_400_000;
  const callback = vi.fn();
  callAt(new Date(days), callback);
  await vi.advanceTimersByTimeAsync(days - 1);
  expect(callback).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(callback).toHaveBeenCalledOnce();
});

test('calls back at once for a time in the past, but after the caller has continued', async () => {
  const callback = vi.fn();
  callAt(new Date(-1), callback);
  expect(callback).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(callback).toHaveBeenCalledOnce();
});

test("calls back after the remaining time though the machine's clock is changed", async () => {
  const callback = vi.fn();
  callAt(new Date(60_000), callback);
  vi.setSystemTime(-3_600_000);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(callback).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(callback).toHaveBeenCalledOnce();
});

test('does not call back once disposed, and leaves no timer', async () => {
  const callback = vi.fn();
  callAt(new Date(10), callback)[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(20);
  expect(callback).not.toHaveBeenCalled();
});

test('uses one timer for all, and calls each back at its own time', async () => {
  const called: number[] = [];
  for (const at of [30, 10, 20, 10]) callAt(new Date(at), () => called.push(at));
  const disposed = callAt(new Date(5), () => called.push(5));
  expect(vi.getTimerCount()).toBe(1);
  disposed[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(9);
  expect(called).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(called).toEqual([10, 10]);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(20);
  expect(called).toEqual([10, 10, 20, 30]);
  expect(vi.getTimerCount()).toBe(0);
});

test('calls what a callback sets, and the others if one fails', async () => {
  const called: string[] = [];
  const failing = new Error('One fails');
  callAt(new Date(10), () => {
    called.push('first');
    callAt(new Date(15), () => called.push('set by the first'));
    throw failing;
  });
  callAt(new Date(10), () => called.push('second'));
  await expect(vi.advanceTimersByTimeAsync(10)).rejects.toBe(failing);
  await vi.advanceTimersByTimeAsync(5);
  expect(called).toEqual(['first', 'second', 'set by the first']);
});

test('leaves nothing behind when disposed, however many times were set', () => {
  vi.useRealTimers();
  const tomorrow = Date.now() + 86_400_000;
  const before = timerLists();
  for (let n = 0; n < 1_000; n++) callAt(new Date(tomorrow - 10 * n), () => undefined)[Symbol.dispose]();
  expect(timerLists()).toBe(before);
  using _open = callAt(new Date(tomorrow), () => undefined);
  expect(timerLists()).toBe(before + 1);
});

/** How many lists of timers Node keeps: one for each duration. */
function timerLists(): number {
  const timer = setTimeout(() => undefined, 1) as NodeJS.Timeout & { readonly _idleNext: object };
  const TimersList = timer._idleNext.constructor as new () => object;
  clearTimeout(timer);
  return queryObjects(TimersList, { format: 'count' });
}
