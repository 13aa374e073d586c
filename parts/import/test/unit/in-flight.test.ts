import { describe, expect, it } from 'vitest';
import { inFlight } from '../../src/import-file.ts';
import { collect } from '../../../../test/support/collect.ts';

async function* numbers(count: number): AsyncGenerator<number> {
  for (let n = 0; n < count; n++) yield await Promise.resolve(n);
}

/** Work whose ends the test decides. */
function controlled() {
  const ends = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  const begun: number[] = [];
  return {
    begun,
    ends,
    work: (n: number): Promise<number> => {
      begun.push(n);
      return new Promise((resolve, reject) => {
        ends.set(n, {
          resolve: () => {
            resolve(n);
          },
          reject,
        });
      });
    },
  };
}

describe('inFlight', () => {
  it('starts in order, at most `limit` at a time, and returns results in order', async () => {
    const { begun, ends, work } = controlled();
    const results = inFlight(numbers(5), 3, work);
    const first = results.next();
    await expect.poll(() => begun).toEqual([0, 1, 2]);
    ends.get(2)?.resolve();
    ends.get(1)?.resolve();
    ends.get(0)?.resolve();
    expect((await first).value).toBe(0);
    const second = results.next();
    expect((await second).value).toBe(1);
    await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
    const third = results.next();
    expect((await third).value).toBe(2);
    ends.get(3)?.resolve();
    const rest = collect(results);
    await expect.poll(() => begun).toEqual([0, 1, 2, 3, 4]);
    ends.get(4)?.resolve();
    expect(await rest).toEqual([3, 4]);
  });

  it('rejects with the first failure, after everything in progress has ended', async () => {
    const { begun, ends, work } = controlled();
    const results = inFlight(numbers(5), 2, work);
    const first = results.next();
    await expect.poll(() => begun).toEqual([0, 1]);
    ends.get(0)?.reject(new Error('no'));
    let hasEnded = false;
    const ended = first.catch((error: unknown) => {
      hasEnded = true;
      return error;
    });
    await new Promise(setImmediate);
    expect(hasEnded).toBe(false);
    ends.get(1)?.reject(new Error('neither'));
    expect(await ended).toEqual(new Error('no'));
    expect(begun).toEqual([0, 1]);
  });
});
