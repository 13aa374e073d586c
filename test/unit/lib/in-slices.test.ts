import { expect, test } from 'vitest';
import { inSlices } from '../../../src/lib/turn.ts';

test('works on slices in order, and lets other work run in between', async () => {
  const seen: string[] = [];
  const result = inSlices([1, 2, 3, 4, 5], 2, (slice) => {
    seen.push(slice.join());
    setImmediate(() => seen.push('others'));
    return Promise.resolve(slice.length);
  });
  expect(await result).toEqual([2, 2, 1]);
  expect(seen.slice(0, 5)).toEqual(['1,2', 'others', '3,4', 'others', '5']);
});

test('starts nothing more after a failure', async () => {
  const begun: number[] = [];
  const work = (slice: readonly number[]) => {
    begun.push(...slice);
    return Promise.reject(new Error('No'));
  };
  await expect(inSlices([1, 2, 3], 1, work)).rejects.toThrow('No');
  expect(begun).toEqual([1]);
});

test('does nothing for an empty list', async () => {
  expect(await inSlices([], 2, () => Promise.reject(new Error('No')))).toEqual([]);
});
