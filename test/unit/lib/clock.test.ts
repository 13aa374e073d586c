import { describe, expect, test } from 'vitest';
import { Clock } from '../../../src/lib/clock.ts';

const DAY = 86_400_000;

function clockBy(machineTime: number): { readonly clock: Clock; readonly machine: { time: number } } {
  const machine = { time: machineTime };
  return { clock: new Clock(() => machine.time), machine };
}

const days = (ms: number): number => Math.round(ms / DAY);

describe('the clock', () => {
  test("is the machine's clock until the database has sent its time", () => {
    const { clock } = clockBy(5 * DAY);
    expect(clock.time()).toBe(5 * DAY);
    expect(clock.skew()).toBe(0);
  });

  test("is the database's if the machine's clock differs, also after that clock is changed", () => {
    const { clock, machine } = clockBy(5 * DAY);
    clock.time();
    clock.observe({ time: 3 * DAY, at: performance.now(), uncertainty: 1 });
    expect(days(clock.time())).toBe(3);
    expect(days(clock.skew())).toBe(2);
    machine.time = 50 * DAY;
    expect(days(clock.time())).toBe(3);
    expect(days(clock.skew())).toBe(47);
    expect(days(clock.now().getTime())).toBe(3);
  });

  test("what comes after a reader's mark is later than it, also while the clock stands still", () => {
    const { clock, machine } = clockBy(5 * DAY);
    const item = clock.time();
    machine.time -= 20;
    const mark = clock.mark(clock.now());
    expect(mark.getTime()).toBe(item);
    expect(clock.time()).toBeGreaterThan(item);
    expect(clock.mark(new Date(item))).toEqual(mark);
    expect(clock.time()).toBe(item + 1);
    for (let last = clock.time(), n = 0; n < 10_000; n += 1, last = clock.time()) {
      clock.mark(clock.now());
      expect(clock.time()).toBeGreaterThanOrEqual(last);
    }
    expect(clock.time() - machine.time).toBeLessThanOrEqual(500);
  });

  test("is the machine's if the difference is too small to measure", () => {
    const { clock, machine } = clockBy(5 * DAY);
    clock.observe({ time: 5 * DAY - 40_000, at: performance.now(), uncertainty: 60_000 });
    expect(clock.time()).toBe(5 * DAY);
    expect(clock.skew()).toBe(0);
    machine.time += 1;
    expect(clock.time()).toBe(5 * DAY + 1);
  });

  test('continues from the last known time', () => {
    const { clock } = clockBy(0);
    clock.observe({ time: 3 * DAY, at: performance.now() - 2 * DAY, uncertainty: 1 });
    expect(days(clock.time())).toBe(5);
  });

  test('stops rather than go back a little, and goes back if the clock was set', () => {
    const { clock, machine } = clockBy(5 * DAY);
    expect(clock.time()).toBe(5 * DAY);
    machine.time -= 500;
    expect(clock.time()).toBe(5 * DAY);
    machine.time += 501;
    expect(clock.time()).toBe(5 * DAY + 1);
    machine.time -= DAY;
    expect(clock.time()).toBe(4 * DAY + 1);
  });

  test('prefers the more precise measurement, for a while', () => {
    const { clock } = clockBy(0);
    const at = performance.now();
    clock.observe({ time: 3 * DAY, at, uncertainty: 5 });
    clock.observe({ time: 9 * DAY, at: at + 1, uncertainty: 50 });
    expect(days(clock.time())).toBe(3);
    clock.observe({ time: 4 * DAY, at: at + 2, uncertainty: 5 });
    expect(days(clock.time())).toBe(4);
    clock.observe({ time: 6 * DAY, at: at + 60_000, uncertainty: 50 });
    expect(days(clock.time())).toBe(6);
  });
});
