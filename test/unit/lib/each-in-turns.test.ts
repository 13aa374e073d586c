import { expect, test } from 'vitest';
import { eachInTurns } from '../../../src/lib/turn.ts';

/** Longer than work may block the event loop. */
const LONG_MS = 11;

test('works on values in order, and on those added meanwhile, and lets other work run in between', async () => {
  const values = [1, 2];
  const seen: (number | string)[] = [];
  await eachInTurns(values, (value) => {
    seen.push(value);
    if (value === 1) values.push(3);
    setImmediate(() => seen.push('others'));
    const since = performance.now();
    while (performance.now() - since < LONG_MS);
  });
  expect(seen).toEqual([1, 'others', 2, 'others', 3]);
});
