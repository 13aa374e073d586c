import { expect, test, vi } from 'vitest';
import { Ending } from '../../../src/lib/closer.ts';

test('notifies every listener once, however often it ends', () => {
  const ending = new Ending();
  const listeners = [vi.fn(), vi.fn()];
  for (const listener of listeners) ending.addEventListener('abort', listener);
  expect(ending.aborted).toBe(false);
  ending.abort();
  ending.abort();
  expect(ending.aborted).toBe(true);
  for (const listener of listeners) expect(listener).toHaveBeenCalledOnce();
});

test('does not notify a listener that has left', () => {
  const ending = new Ending();
  const [left, stays] = [vi.fn(), vi.fn()];
  ending.addEventListener('abort', left);
  ending.addEventListener('abort', stays);
  ending.removeEventListener('abort', left);
  ending.abort();
  expect(left).not.toHaveBeenCalled();
  expect(stays).toHaveBeenCalledOnce();
});

test('is over for listeners during the end, and does not notify later ones', () => {
  const ending = new Ending();
  const seen: boolean[] = [];
  ending.addEventListener('abort', () => {
    seen.push(ending.aborted);
    ending.addEventListener('abort', () => seen.push(false));
  });
  ending.abort();
  expect(seen).toEqual([true]);
});
