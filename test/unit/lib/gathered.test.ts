import { expect, test } from 'vitest';
import { gathered } from '../../../src/lib/gathered.ts';

function turnstile() {
  const batches: (readonly number[])[] = [];
  const ends: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const add = gathered((values: readonly number[]) => {
    batches.push([...values]);
    return new Promise<void>((resolve, reject) => {
      ends.push({ resolve, reject });
    });
  }, 3);
  return { add, batches, ends };
}

test('does together what comes while other work is under way, at most so much at once', async () => {
  const { add, batches, ends } = turnstile();
  const first = add(1);
  await expect.poll(() => batches).toEqual([[1]]);
  const others = [2, 3, 4, 5].map(add);
  expect(batches).toEqual([[1]]);
  ends[0]?.resolve();
  await first;
  await expect.poll(() => batches).toEqual([[1], [2, 3, 4]]);
  ends[1]?.resolve();
  await expect.poll(() => batches).toEqual([[1], [2, 3, 4], [5]]);
  ends[2]?.resolve();
  await Promise.all(others);
});

test('a failure is that of the calls it was part of, and of no other', async () => {
  const { add, batches, ends } = turnstile();
  const failed = [1, 2].map((value) => expect(add(value)).rejects.toThrow('Broken'));
  await expect.poll(() => batches).toEqual([[1, 2]]);
  const next = add(3);
  ends[0]?.reject(new Error('Broken'));
  await Promise.all(failed);
  await expect.poll(() => batches).toEqual([[1, 2], [3]]);
  ends[1]?.resolve();
  await next;
});

test('each call resolves to the result of the work that it was part of', async () => {
  const sum = gathered((values: readonly number[]) => Promise.resolve(values.join()), 2);
  expect(await Promise.all([1, 2, 3].map(sum))).toEqual(['1,2', '1,2', '3']);
});

test('what a call takes of the most that is done at once is its size, and one that is larger is done at once', async () => {
  const done: string[] = [];
  const say = gathered(
    (values: readonly string[]) => {
      done.push(values.join());
      return Promise.resolve();
    },
    3,
    ({ length }) => length,
  );
  await Promise.all(['aa', 'b', 'c', 'large', 'dd', 'e'].map(say));
  expect(done).toEqual(['large', 'aa,b', 'c,dd', 'e']);
});
