import { expect, test } from 'vitest';
import { Reading } from '../../../src/lib/reading.ts';

const OVER = new Error('It is over');
const never = new Promise<never>(() => undefined);

/** Work that goes on until it is released. */
function held() {
  const goOn: (() => void)[] = [];
  return { goOn, work: () => new Promise<void>((resolve) => void goOn.push(resolve)) };
}

test('a few reads at a time', async () => {
  const reading = new Reading();
  const { goOn, work } = held();
  const all = Promise.all(Array.from({ length: 10 }, () => reading.run(work)));
  await Promise.resolve();
  expect(goOn.length).toBe(4);
  for (let done = 0; done < 10; done += 1) {
    await expect.poll(() => goOn.length).toBeGreaterThan(done);
    expect(goOn.length - done).toBeLessThanOrEqual(4);
    goOn[done]?.();
  }
  await all;
});

test('after its end nothing more is read, and what waits for it learns why', async () => {
  const reading = new Reading();
  const { goOn, work } = held();
  const underWay = Array.from({ length: 4 }, () => reading.run(work));
  const waiting = reading.run(work);
  const result = reading.untilEnd(never, 600_000, () => new Error('Too late'));
  reading.end(OVER);
  reading.end(new Error('Another'));
  await expect(result).rejects.toBe(OVER);
  for (const release of goOn) release();
  await Promise.all(underWay);
  await expect(waiting).rejects.toBe(OVER);
  expect(() => reading.check()).toThrow(OVER);
  await expect(reading.untilEnd(never, 600_000, () => new Error('Too late'))).rejects.toBe(OVER);
});

test('it ends when its time is over, and not when the work was done before', async () => {
  const reading = new Reading();
  expect(await reading.untilEnd(Promise.resolve('done'), 1, () => OVER)).toBe('done');
  await expect(reading.untilEnd(Promise.reject(new Error('Failed')), 1, () => OVER)).rejects.toThrow(
    'Failed',
  );
  reading.check();
  await expect(reading.untilEnd(never, 1, () => OVER)).rejects.toBe(OVER);
  await expect(reading.run(() => Promise.resolve())).rejects.toBe(OVER);
});
