import { buildSchema as parseSchema, execute, parse, type ExecutionResult } from 'graphql';
import { expect, test } from 'vitest';
import type { ReadyIterator } from '../../../src/lib/prefetch.ts';
import { runSubscription, type ResultStreamOptions } from '../../../src/graphql/result-stream.ts';

const schema = parseSchema(
  'type Query { n: Int } type Subscription { tick: Tick } type Tick { n: Int, session: Int }',
);
const document = parse('subscription { tick { n session } }');

/** Runs a subscription on a source, with a new number as the session of each event. */
async function run(
  source: () => AsyncIterable<object> | Promise<never>,
  send?: ResultStreamOptions['send'],
  prepare?: ResultStreamOptions['prepare'],
) {
  const ended: string[] = [];
  const events: unknown[] = [];
  let sessions = 0;
  const args = {
    ...{ schema, document, fieldResolver: resolve, rootValue: { tick: source } },
    subscribeFieldResolver: (root: unknown) => (root as { tick: typeof source }).tick(),
  };
  const stream = await runSubscription(args, {
    present: (event) => execute({ ...args, rootValue: event, contextValue: { number: (sessions += 1) } }),
    ...{ send, prepare },
    onEnd: () => void ended.push('end'),
    onEvent: (event) => void events.push(event),
    presentError: (error) => ({ errors: [], extensions: { failed: String(error) } }),
  });
  return { stream, ended, events };
}

function resolve(
  source: Record<string, unknown>,
  _args: unknown,
  context: { number: number },
  info: { fieldName: string },
) {
  if (info.fieldName === 'session') return context.number;
  return info.fieldName === 'tick' ? source : source['n'];
}

async function* ticks(...numbers: number[]): AsyncGenerator<object> {
  for (const n of numbers) yield await Promise.resolve({ n });
}

function isStream(value: unknown): value is AsyncGenerator<ExecutionResult, void, void> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

test('executes each event in its own context, and ends with its source', async () => {
  const { stream, ended, events } = await run(() => ticks(10, 20));
  if (!isStream(stream)) throw new Error('No stream');
  const results = [];
  for await (const { data } of stream) results.push(data);
  expect(results).toEqual([{ tick: { n: 10, session: 1 } }, { tick: { n: 20, session: 2 } }]);
  expect(events).toEqual([{ n: 10 }, { n: 20 }]);
  expect(ended).toEqual(['end']);
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test('reads an event only on request', async () => {
  let taken = 0;
  async function* counting(): AsyncGenerator<object> {
    for (;;) {
      taken += 1;
      yield await Promise.resolve({ n: taken });
    }
  }
  const { stream } = await run(counting);
  if (!isStream(stream)) throw new Error('No stream');
  await stream.next();
  await stream.next();
  await Promise.resolve();
  expect(taken).toBe(2);
  await stream.return();
});

test('passes on what is taken past its reader, in order, and waits until the next may follow', async () => {
  const sent: unknown[] = [];
  const leave: (() => void)[] = [];
  const { stream } = await run(
    () => ticks(1, 2, 3, 4),
    ({ data }) => {
      const { n } = data?.['tick'] as { n: number };
      if (n === 4) return null;
      sent.push(n);
      return n === 2 ? new Promise((resolve) => leave.push(resolve)) : 'sent';
    },
  );
  if (!isStream(stream)) throw new Error('No stream');
  const next = stream.next();
  await expect.poll(() => sent).toEqual([1, 2]);
  leave[0]?.();
  expect(await next).toMatchObject({ value: { data: { tick: { n: 4 } } } });
  expect(sent).toEqual([1, 2, 3]);
});

test('passes on nothing that was in progress when it was closed', async () => {
  const sent: unknown[] = [];
  let release = (): void => undefined;
  const waiting = new Promise<void>((resolve) => {
    release = resolve;
  });
  async function* slow(): AsyncGenerator<object> {
    await waiting;
    yield { n: 1 };
  }
  const { stream } = await run(slow, (result) => {
    sent.push(result);
    return 'sent';
  });
  if (!isStream(stream)) throw new Error('No stream');
  const next = stream.next();
  await stream.return();
  release();
  expect(await next).toEqual({ done: true, value: undefined });
  expect(sent).toEqual([]);
});

test('ends at once when closed, even while it waits for an event', async () => {
  let isOver = false;
  async function* silent(): AsyncGenerator<object> {
    try {
      await new Promise(() => undefined);
      yield {};
    } finally {
      isOver = true;
    }
  }
  const { stream, ended } = await run(silent);
  if (!isStream(stream)) throw new Error('No stream');
  void stream.next();
  expect(await stream.return()).toEqual({ done: true, value: undefined });
  expect(ended).toEqual(['end']);
  expect(await stream.next()).toEqual({ done: true, value: undefined });
  // Such a source never ends on its own; the signal that onEnd aborts is what ends it.
  expect(isOver).toBe(false);
});

test('reports a failing source, then ends', async () => {
  async function* failing(): AsyncGenerator<object> {
    yield await Promise.resolve({ n: 1 });
    throw new Error('Lost');
  }
  const { stream, ended } = await run(failing);
  if (!isStream(stream)) throw new Error('No stream');
  const results = [];
  for await (const result of stream) results.push(result);
  expect(results).toEqual([
    { data: { tick: { n: 1, session: 1 } } },
    { errors: [], extensions: { failed: 'Error: Lost' } },
  ]);
  expect(ended).toEqual(['end']);
});

test('yields an error and ends if the source cannot be opened', async () => {
  const { stream, ended } = await run(() => Promise.reject(new Error('Closed')));
  expect(stream).toMatchObject({ errors: [{ message: 'Closed', path: ['tick'] }] });
  expect(ended).toEqual(['end']);
});

test('takes ready results without waiting, and says of each whether another follows', async () => {
  const sent: unknown[] = [];
  let waits = 0;
  function source(): ReadyIterator<object> {
    const rounds = [[{ n: 1 }, { n: 2 }, { n: 3 }], [{ n: 4 }]];
    let ready: object[] = [];
    return {
      get hasReady() {
        return ready.length > 0;
      },
      ready: [],
      whenReady: () => false,
      takeReady: () => ready.shift() ?? null,
      async next() {
        waits += 1;
        ready = await Promise.resolve(rounds.shift() ?? []);
        const value = ready.shift();
        return value === undefined ? { done: true, value } : { done: false, value };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
  const { stream, events } = await run(source, ({ data }, isFollowed) => {
    sent.push([(data?.['tick'] as { n: number }).n, isFollowed]);
    return 'sent';
  });
  if (!isStream(stream)) throw new Error('No stream');
  expect(await stream.next()).toEqual({ done: true, value: undefined });
  expect(sent).toEqual([
    [1, true],
    [2, true],
    [3, false],
    [4, false],
  ]);
  expect(events).toHaveLength(4);
  expect(waits).toBe(3);
});

/** A source that has what it is given ready, and says so to who asked. */
class Prepared implements ReadyIterator<object> {
  ready: object[] = [];
  asked = 0;
  #wake: (() => void) | null = null;

  get hasReady(): boolean {
    return this.ready.length > 0;
  }

  give(...values: object[]): void {
    this.ready.push(...values);
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  takeReady(): object | null {
    return this.ready.shift() ?? null;
  }

  whenReady(wake: () => void): boolean {
    this.#wake = wake;
    return true;
  }

  next(): Promise<IteratorResult<object, void>> {
    this.asked += 1;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

const numberOf = ({ data }: ExecutionResult): number => (data?.['tick'] as { n: number }).n;

test('sends new results at once, in the call that makes them ready, and requests nothing', async () => {
  const source = new Prepared();
  const sent: number[] = [];
  const { stream } = await run(
    () => source,
    (result) => {
      if (numberOf(result) === 4) return null;
      sent.push(numberOf(result));
      return 'sent';
    },
  );
  if (!isStream(stream)) throw new Error('No stream');
  const next = stream.next();
  source.give({ n: 1 }, { n: 2 });
  expect(sent).toEqual([1, 2]);
  source.give({ n: 3 });
  expect(sent).toEqual([1, 2, 3]);
  source.give({ n: 4 }, { n: 5 });
  expect(await next).toMatchObject({ value: { data: { tick: { n: 4 } } } });
  // Nobody has asked for it yet.
  expect(sent).toEqual([1, 2, 3]);
  void stream.next();
  expect(sent).toEqual([1, 2, 3, 5]);
  expect(source.asked).toBe(0);
  await stream.return();
});

test('waits with ready results until it is prepared, and takes none meanwhile', async () => {
  const source = new Prepared();
  const sent: number[] = [];
  const asked: unknown[] = [];
  let wake: (() => void) | null = null;
  const { stream } = await run(
    () => source,
    (result) => {
      sent.push(numberOf(result));
      return 'sent';
    },
    (events, onPrepared) => {
      asked.push(events);
      if (wake !== null) return true;
      wake = onPrepared;
      return false;
    },
  );
  if (!isStream(stream)) throw new Error('No stream');
  void stream.next();
  const events = [{ n: 1 }, { n: 2 }];
  source.give(...events);
  expect(asked).toEqual([events]);
  expect(sent).toEqual([]);
  expect(source.ready).toEqual(events);
  (wake as unknown as () => void)();
  expect(sent).toEqual([1, 2]);
  await stream.return();
});

test('reports an error in what it shows although nobody waits for it', async () => {
  const source = new Prepared();
  const { stream, ended } = await run(
    () => source,
    () => {
      throw new Error('Gone');
    },
  );
  if (!isStream(stream)) throw new Error('No stream');
  const next = stream.next();
  source.give({ n: 1 });
  expect(await next).toEqual({
    done: false,
    value: { errors: [], extensions: { failed: 'Error: Gone' } },
  });
  expect(ended).toEqual(['end']);
});
