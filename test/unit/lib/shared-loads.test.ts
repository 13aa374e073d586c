import { expect, test, vi } from 'vitest';
import { SharedLoads } from '../../../src/lib/shared-loads.ts';

interface Answer {
  readonly name: string;
  /** The number of the load that gave it. */
  readonly load: number;
}

/** Loads that wait until they are let go, and know every key but those that begin with x. */
function heldLoads(maxBatch = 500, everyMs = 0) {
  const begun: { readonly keys: readonly string[]; readonly go: (error?: Error) => void }[] = [];
  const loads = new SharedLoads<string, Answer>({
    load: (keys) =>
      new Promise((resolve, reject) => {
        const load = begun.length + 1;
        begun.push({
          keys,
          go: (error) => {
            if (error === undefined)
              resolve(
                new Map(
                  keys.filter((key) => !key.startsWith('x')).map((name) => [name, { name, load }] as const),
                ),
              );
            else reject(error);
          },
        });
      }),
    nameOf: (key) => key,
    maxBatch,
    everyMs,
  });
  const find = async (keys: readonly string[]): Promise<Answer[]> =>
    (await Promise.all(keys.map((key) => loads.load(key)))).filter((answer) => answer !== null);
  return { find, begun };
}

/** Behind everything that is to happen in this turn of the event loop. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

test('combines the requests of one turn into one load, each key once, and answers each caller', async () => {
  const { find, begun } = heldLoads();
  const answers = Promise.all([
    find(['a', 'b']),
    find(['b', 'x', 'c']),
    Promise.resolve().then(() => find(['c', 'a'])),
    find([]),
  ]);
  await turn();
  expect(begun.map(({ keys }) => keys)).toEqual([['a', 'b', 'x', 'c']]);
  begun[0]?.go();
  const names = (await answers).map((found) => found.map(({ name }) => name));
  expect(names).toEqual([['a', 'b'], ['b', 'c'], ['c', 'a'], []]);
});

test('never uses the result of a load that began before the request', async () => {
  const { find, begun } = heldLoads();
  const first = find(['a']);
  await turn();
  const second = find(['a']);
  await turn();
  for (const { go } of begun) go();
  expect([await first, await second]).toEqual([[{ name: 'a', load: 1 }], [{ name: 'a', load: 2 }]]);
  const third = find(['a']);
  await turn();
  begun[2]?.go();
  expect(await third).toEqual([{ name: 'a', load: 3 }]);
});

test('gathers requests while two loads are in progress', async () => {
  const { find, begun } = heldLoads();
  const early = [];
  for (const key of ['a', 'b']) {
    early.push(find([key]));
    await turn();
  }
  const late = [];
  for (const key of ['c', 'd', 'c', 'e']) {
    late.push(find([key]));
    await turn();
  }
  expect(begun.map(({ keys }) => keys)).toEqual([['a'], ['b']]);
  begun[0]?.go();
  await turn();
  expect(begun.map(({ keys }) => keys)).toEqual([['a'], ['b'], ['c', 'd', 'e']]);
  for (const { go } of begun) go();
  expect((await Promise.all([...early, ...late])).flat().map(({ load }) => load)).toEqual([1, 2, 3, 3, 3, 3]);
});

test('splits a load that is too large', async () => {
  const { find, begun } = heldLoads(2);
  const found = find(['a', 'b', 'c', 'd', 'e']);
  await turn();
  expect(begun.map(({ keys }) => keys)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  begun[0]?.go();
  await turn();
  for (const { go } of begun) go();
  expect((await found).map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('rejects the callers of a failed load only, and continues', async () => {
  const { find, begun } = heldLoads();
  const first = find(['a']);
  const same = find(['a', 'b']);
  await turn();
  const next = find(['a']);
  await turn();
  begun[0]?.go(new Error('Away'));
  await expect(first).rejects.toThrow('Away');
  await expect(same).rejects.toThrow('Away');
  begun[1]?.go();
  expect(await next).toEqual([{ name: 'a', load: 2 }]);
});

test('begins a load at once after a pause, and otherwise gathers what is requested until it is over', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  try {
    const { find, begun } = heldLoads(500, 50);
    vi.advanceTimersByTime(50);
    const answers = [find(['a'])];
    await turn();
    begun[0]?.go();
    answers.push(find(['b']));
    await turn();
    answers.push(find(['c']));
    vi.advanceTimersByTime(49);
    expect(begun.map(({ keys }) => keys)).toEqual([['a']]);
    vi.advanceTimersByTime(1);
    expect(begun.map(({ keys }) => keys)).toEqual([['a'], ['b', 'c']]);
    begun[1]?.go();
    await Promise.all(answers);
  } finally {
    vi.useRealTimers();
  }
});
