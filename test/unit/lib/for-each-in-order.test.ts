import { expect, test } from 'vitest';
import { forEachInOrder } from '../../../src/lib/turn.ts';

interface Job {
  readonly value: number;
  readonly end: (result: string) => void;
  readonly fail: (error: Error) => void;
}

async function* numbers(count: number): AsyncGenerator<number, void, undefined> {
  for (let n = 1; n <= count; n++) yield Promise.resolve(n);
}

function begin(count: number, limit: number, mayBegin: () => boolean = () => true) {
  const jobs: Job[] = [];
  const concluded: string[] = [];
  const ended = forEachInOrder(numbers(count), limit, {
    mayBegin,
    work: (value) =>
      new Promise<string>((resolve, reject) => jobs.push({ value, end: resolve, fail: reject })),
    conclude: (value, result) => {
      concluded.push(`${String(value)} ${result}`);
      return Promise.resolve();
    },
  });
  const job = async (value: number): Promise<Job> => {
    await expect.poll(() => jobs.some((one) => one.value === value)).toBe(true);
    const found = jobs.find((one) => one.value === value);
    if (found === undefined) throw new Error('It was not begun');
    return found;
  };
  return { jobs, concluded, ended, job };
}

test('concludes in order what ends in any order, and starts no more than the limit', async () => {
  const { jobs, concluded, ended, job } = begin(4, 2);
  (await job(2)).end('b');
  expect(concluded).toEqual([]);
  expect(jobs.map(({ value }) => value)).toEqual([1, 2]);
  (await job(1)).end('a');
  (await job(3)).end('c');
  (await job(4)).end('d');
  await ended;
  expect(concluded).toEqual(['1 a', '2 b', '3 c', '4 d']);
});

test('does nothing for an empty source', async () => {
  await expect(begin(0, 2).ended).resolves.toBeUndefined();
});

test('starts nothing more when told to stop, and concludes what is in progress', async () => {
  const state = { isOpen: true };
  const { jobs, concluded, ended, job } = begin(9, 2, () => state.isOpen);
  await job(2);
  state.isOpen = false;
  (await job(2)).end('b');
  (await job(1)).end('a');
  await ended;
  expect(concluded).toEqual(['1 a', '2 b']);
  expect(jobs).toHaveLength(2);
});

test('rejects with the first failure after everything in progress has ended, and concludes nothing behind it', async () => {
  const { jobs, concluded, ended, job } = begin(9, 3);
  const outcome = ended.then(
    () => 'resolved',
    (error: unknown) => String(error),
  );
  const settled: string[] = [];
  void outcome.then((what) => settled.push(what));
  (await job(1)).end('a');
  (await job(2)).fail(new Error('Broken'));
  await job(4);
  (await job(3)).end('c');
  await expect.poll(() => concluded).toEqual(['1 a']);
  expect(settled).toEqual([]);
  (await job(4)).end('d');
  expect(await outcome).toBe('Error: Broken');
  expect(concluded).toEqual(['1 a']);
  expect(jobs).toHaveLength(4);
});

test('rejects with the failure of its source after everything in progress has ended', async () => {
  async function* broken(): AsyncGenerator<number, void, undefined> {
    yield Promise.resolve(1);
    await Promise.resolve();
    throw new Error('No more');
  }
  const concluded: number[] = [];
  const ending = forEachInOrder(broken(), 2, {
    mayBegin: () => true,
    work: (value) => Promise.resolve(value),
    conclude: (value) => {
      concluded.push(value);
      return Promise.resolve();
    },
  });
  await expect(ending).rejects.toThrow('No more');
  expect(concluded).toEqual([1]);
});
