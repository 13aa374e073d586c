import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { gathered, type Gathering } from '../../../src/lib/gathered.ts';

interface Answer {
  readonly key: string;
  /** The number of the work that gave it. */
  readonly of: number;
}

/** Work that waits until it is let go. */
function held(options: Partial<Gathering<string>> = {}) {
  const begun: { readonly keys: readonly string[]; readonly go: (error?: Error) => void }[] = [];
  const call = gathered<string, number>(
    (keys) =>
      new Promise((resolve, reject) => {
        const of = begun.length + 1;
        const go = (error?: Error): void => (error === undefined ? resolve(of) : reject(error));
        begun.push({ keys: [...keys], go });
      }),
    { most: 3, ...options },
  );
  const ask = (...keys: readonly string[]): Promise<Answer[]> =>
    Promise.all(keys.map(async (key) => ({ key, of: await call(key) })));
  return { ask, begun, keys: () => begun.map(({ keys }) => keys) };
}

/** Behind everything that is to happen in this turn of the event loop. */
async function turn(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

const nameOf = (key: string): string => key;
const mayBeOfOne = (error: unknown): boolean => error instanceof Error && error.message !== 'Away';

test('does together what comes while other work is under way, at most so much at once', async () => {
  const { ask, begun, keys } = held();
  const first = ask('a');
  await turn();
  expect(keys()).toEqual([['a']]);
  const others = ask('b', 'c', 'd', 'e');
  await turn();
  expect(keys()).toEqual([['a']]);
  begun[0]?.go();
  await first;
  await turn();
  expect(keys()).toEqual([['a'], ['b', 'c', 'd']]);
  begun[1]?.go();
  await turn();
  expect(keys()).toEqual([['a'], ['b', 'c', 'd'], ['e']]);
  begun[2]?.go();
  expect((await others).map(({ of }) => of)).toEqual([2, 2, 2, 3]);
});

test('calls with one name are one until their work begins, and none is part of work that began before it', async () => {
  const { ask, begun, keys } = held({ nameOf, most: 500, atOnce: 2 });
  const early = [ask('a', 'b'), Promise.resolve().then(() => ask('b', 'c'))];
  await turn();
  const late = ask('a');
  await turn();
  expect(keys()).toEqual([['a', 'b', 'c'], ['a']]);
  for (const { go } of begun) go();
  expect((await Promise.all(early)).flat().map(({ of }) => of)).toEqual([1, 1, 1, 1]);
  expect(await late).toEqual([{ key: 'a', of: 2 }]);
  const last = ask('a');
  await turn();
  begun[2]?.go();
  expect(await last).toEqual([{ key: 'a', of: 3 }]);
});

test('gathers while as much work is under way as may be', async () => {
  const { ask, begun, keys } = held({ nameOf, atOnce: 2 });
  const answers: Promise<Answer[]>[] = [];
  for (const key of ['a', 'b', 'c', 'd', 'c', 'e']) {
    answers.push(ask(key));
    await turn();
  }
  expect(keys()).toEqual([['a'], ['b']]);
  begun[0]?.go();
  await turn();
  expect(keys()).toEqual([['a'], ['b'], ['c', 'd', 'e']]);
  for (const { go } of begun) go();
  expect((await Promise.all(answers)).flat().map(({ of }) => of)).toEqual([1, 2, 3, 3, 3, 3]);
});

test('what a call takes of the most that is done at once is its size, and one that is larger is done at once', async () => {
  const done: string[] = [];
  const say = gathered(
    (values: readonly string[]) => {
      done.push(values.join());
      return Promise.resolve();
    },
    { most: 3, sizeOf: ({ length }) => length },
  );
  await Promise.all(['aa', 'b', 'c', 'large', 'dd', 'e'].map(say));
  expect(done).toEqual(['large', 'aa,b', 'c,dd', 'e']);
});

test('a failure is that of the calls it was part of, and of no other', async () => {
  const { ask, begun, keys } = held();
  const failed = expect(ask('a', 'b')).rejects.toThrow('Broken');
  await turn();
  const next = ask('c');
  begun[0]?.go(new Error('Broken'));
  await failed;
  await turn();
  expect(keys()).toEqual([['a', 'b'], ['c']]);
  begun[1]?.go();
  await next;
});

test('what cannot be done for one call does not fail those that share its work', async () => {
  const done: string[] = [];
  const spell = gathered(
    (values: readonly string[]) => {
      done.push(values.join(''));
      return values.includes('x') ? Promise.reject(new Error('Broken')) : Promise.resolve(values.join(''));
    },
    { most: 100, mayBeOfOne },
  );
  const results = await Promise.allSettled(Array.from('abcxefgh', spell));
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : null))).toEqual([
    'ab',
    'ab',
    'c',
    null,
    'efgh',
    'efgh',
    'efgh',
    'efgh',
  ]);
  expect(done).toEqual(['abcxefgh', 'abcx', 'efgh', 'ab', 'cx', 'c', 'x']);
});

test('a failure of all is not asked for again', async () => {
  const { ask, begun, keys } = held({ mayBeOfOne });
  const failed = expect(ask('a', 'b')).rejects.toThrow('Away');
  await turn();
  begun[0]?.go(new Error('Away'));
  await failed;
  await turn();
  expect(keys()).toEqual([['a', 'b']]);
});

test('begins at once after a pause, and otherwise gathers what comes until it is over', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  try {
    const { ask, begun, keys } = held({ everyMs: 50, atOnce: 2 });
    vi.advanceTimersByTime(50);
    const answers = [ask('a')];
    await turn();
    begun[0]?.go();
    answers.push(ask('b'));
    await turn();
    answers.push(ask('c'));
    vi.advanceTimersByTime(49);
    expect(keys()).toEqual([['a']]);
    vi.advanceTimersByTime(1);
    await turn();
    expect(keys()).toEqual([['a'], ['b', 'c']]);
    begun[1]?.go();
    await Promise.all(answers);
  } finally {
    vi.useRealTimers();
  }
});
