import { describe, expect, test } from 'vitest';
import { answerError, networkError, type FeedClientError } from '../../src/errors.ts';
import { Tokens } from '../../src/tokens.ts';
import type { Answer, Transport } from '../../src/transport.ts';
import type { FeedClientOptions, FeedEvent, FeedFilter, WatchOptions } from '../../src/types.ts';
import { Watch } from '../../src/watch.ts';

interface Item {
  readonly id: string;
}

/** What one connection gives: messages, then how it ends. */
type Script = readonly (object | Error)[];

const ready = (cursor: string): object => ({ __typename: 'FeedReady', cursor });
const added = (cursor: string): object => ({ __typename: 'FeedItemAdded', cursor, item: { id: cursor } });
const resync = (cursor: string, reason: string): object => ({ __typename: 'FeedResync', cursor, reason });
const refusal = (code: string): FeedClientError => answerError([{ message: 'No', extensions: { code } }]);
const lost = (): FeedClientError => networkError('Lost');

interface Run {
  /** Calls of the callbacks and attempts to connect, in order. */
  readonly calls: string[];
  readonly ended: Promise<void>;
  readonly tokens: string[];
}

interface RunOptions extends Partial<WatchOptions<Item>> {
  readonly retries?: number;
  readonly token?: FeedClientOptions['token'];
  readonly timeoutMs?: number;
}

/** A watch on connections that go by a script; when there are no more, it is aborted. */
function run(
  scripts: readonly Script[],
  { retries = Infinity, token = 't', timeoutMs = 30_000, ...options }: RunOptions = {},
): Run {
  const abort = new AbortController();
  const left = [...scripts];
  const calls: string[] = [];
  const tokens: string[] = [];
  const connect: Transport = async function* ({ variables }, given) {
    await Promise.resolve();
    const script = left.shift();
    if (script === undefined) abort.abort();
    else tokens.push(given);
    if (script !== undefined) calls.push(`after ${String(variables['after'])}`);
    for (const part of script ?? []) {
      if (part instanceof Error) throw part;
      yield { data: { feedEvents: part } } satisfies Answer;
    }
  };
  const watch = new Watch<FeedEvent<Item>, FeedFilter>(
    {
      ...{ connect, retries, timeoutMs, subscription: '' },
      tokens: new Tokens(token),
      backoff: { firstMs: 0, maxMs: 0 },
    },
    {
      onState(state, cause) {
        if (state === 'waiting') calls.push(`waiting: ${cause?.message ?? ''}`);
      },
      signal: abort.signal,
      ...options,
      async onEvent(event) {
        calls.push(event.cursor);
        await options.onEvent?.(event);
      },
      async onResync(reason, cursor) {
        calls.push(`resync ${reason}`);
        await options.onResync?.(reason, cursor);
      },
    },
  );
  return { calls, tokens, ended: watch.run() };
}

describe('the cursor', () => {
  test('is that of the last delivered event', async () => {
    const { calls, ended } = run([
      [ready('c0'), lost()],
      [ready('c0'), added('c1'), added('c2'), lost()],
      [ready('c2'), resync('c7', 'log-lost'), lost()],
      [ready('c7'), added('c8')],
    ]);
    await ended;
    expect(calls.filter((call) => !call.startsWith('waiting'))).toEqual([
      ...['after undefined', 'resync opened', 'after c0', 'c1', 'c2'],
      ...['after c2', 'resync log-lost', 'after c7', 'c8'],
    ]);
  });

  test('is kept in the same way for whatever is watched', async () => {
    const { calls, ended } = run([
      [{ __typename: 'NotificationsReady', cursor: 'c0' }, lost()],
      [
        { __typename: 'NotificationsReady', cursor: 'c0' },
        { __typename: 'NotificationAdded', cursor: 'c1' },
        { __typename: 'NotificationCountsChanged', cursor: 'c1' },
        { __typename: 'NotificationsResync', cursor: 'c4', reason: 'marks' },
        lost(),
      ],
      [{ __typename: 'NotificationsReady', cursor: 'c4' }],
    ]);
    await ended;
    expect(calls.filter((call) => !call.startsWith('waiting'))).toEqual([
      ...['after undefined', 'resync opened', 'after c0', 'c1', 'c1', 'resync marks', 'after c4'],
    ]);
  });

  test('starts with the given one, and then no query is needed', async () => {
    const { calls, ended } = run([[ready('mine'), added('c1')]], { after: 'mine' });
    await ended;
    expect(calls.slice(0, 2)).toEqual(['after mine', 'c1']);
  });

  test('stays before an event that could not be delivered yet', async () => {
    let failures = 2;
    const flaky = (): void => {
      if (failures > 0) {
        failures -= 1;
        throw lost();
      }
    };
    const { calls, ended } = run(
      [
        [ready('c0'), added('c1')],
        [ready('c0'), added('c1')],
        [ready('c0'), added('c1'), added('c2')],
      ],
      {
        onResync: flaky,
        onEvent({ cursor }) {
          if (cursor === 'c2') flaky();
        },
      },
    );
    await ended;
    expect(calls.filter((call) => !call.startsWith('waiting'))).toEqual([
      ...['after undefined', 'resync opened', 'after undefined', 'resync opened'],
      ...['after undefined', 'resync opened', 'c1', 'c2'],
    ]);
  });

  test("waits for a callback's promise, and so do the next events", async () => {
    let atOnce = 0;
    const most: number[] = [];
    const { ended } = run([[ready('c0'), added('c1'), added('c2'), added('c3')]], {
      async onEvent() {
        most.push((atOnce += 1));
        await new Promise((resolve) => setImmediate(resolve));
        atOnce -= 1;
      },
    });
    await ended;
    expect(most).toEqual([1, 1, 1]);
  });
});

describe('a callback that throws', () => {
  test.each<[string, (fail: () => never) => RunOptions]>([
    ['onEvent', (onEvent) => ({ onEvent })],
    ['onResync', (onResync) => ({ onResync })],
    ['onEvent, later', (fail) => ({ onEvent: () => Promise.resolve().then(fail) })],
    ['onState', (onState) => ({ onState })],
  ])('ends the watch with its error: %s', async (_which, options) => {
    const error = new Error('Mine');
    const { ended, calls } = run(
      [[ready('c0'), added('c1'), added('c2')]],
      options(() => {
        throw error;
      }),
    );
    await expect(ended).rejects.toBe(error);
    expect(calls).not.toContain('c2');
  });

  test.each(['BAD_USER_INPUT', 'UNAUTHENTICATED'])('ends it too if its own query gets %s', async (code) => {
    const onResync = (): never => {
      throw refusal(code);
    };
    const { ended, calls } = run([[ready('c0')], [ready('c0')]], { onResync, token: () => 't' });
    await expect(ended).rejects.toMatchObject({ code });
    expect(calls.length).toBe(2);
  });
});

describe('attempts', () => {
  test.each(['NETWORK', 'UNAVAILABLE', 'RATE_LIMITED', 'INTERNAL_SERVER_ERROR'])(
    'continue after %s',
    async (code) => {
      const { ended, calls } = run([[refusal(code)], [refusal(code)], [ready('c0')]]);
      await ended;
      expect(calls.filter((call) => call.startsWith('after')).length).toBe(3);
    },
  );

  test.each(['BAD_USER_INPUT', 'FORBIDDEN', 'PROTOCOL', 'SOMETHING_ELSE'])('end with %s', async (code) => {
    const { ended, calls } = run([[refusal(code)], [ready('c0')]]);
    await expect(ended).rejects.toMatchObject({ code });
    expect(calls).toEqual(['after undefined']);
  });

  test('end after the given number of failures in a row', async () => {
    const { ended, calls } = run([[lost()], [lost()], [refusal('UNAVAILABLE')], [ready('c0')]], {
      retries: 2,
    });
    await expect(ended).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(calls.filter((call) => call.startsWith('after')).length).toBe(3);
  });

  test('are counted from zero after each established connection', async () => {
    const stood = Array.from({ length: 5 }, () => [ready('c0'), lost()]);
    const { ended } = run([[ready('c0'), lost()], ...stood], { retries: 1 });
    await ended;
  });

  test('that fail at the same event every time count as failures', async () => {
    const broken = (): Script => [ready('c0'), refusal('INTERNAL_SERVER_ERROR')];
    const { ended, calls } = run([broken(), broken(), broken(), broken()], { retries: 2 });
    await expect(ended).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' });
    expect(calls.filter((call) => call.startsWith('after')).length).toBe(3);
  });

  test('continue if the server completes the subscription', async () => {
    const { ended, calls } = run([[ready('c0')], [ready('c0'), added('c1')]]);
    await ended;
    expect(calls).toContain('c1');
  });
});

describe('tokens', () => {
  const numbered = (): ((refused?: string) => string) => {
    let n = 0;
    return (refused) => `t${String((n += 1))}${refused === undefined ? '' : ` for ${refused}`}`;
  };

  test('a refused one is requested once more, at once', async () => {
    const { ended, calls, tokens } = run(
      [
        [ready('c0'), refusal('UNAUTHENTICATED')],
        [ready('c0'), refusal('UNAUTHENTICATED')],
        [ready('c0'), added('c1')],
      ],
      { token: numbered(), retries: 0 },
    );
    await expect(ended).rejects.toMatchObject({ message: 'The server ended the subscription' });
    expect(tokens).toEqual(['t1', 't2 for t1', 't3 for t2 for t1']);
    expect(calls).toContain('c1');
  });

  test('a second refusal in a row ends the watch', async () => {
    const { ended, tokens } = run([[refusal('UNAUTHENTICATED')], [refusal('UNAUTHENTICATED')], []], {
      token: numbered(),
    });
    await expect(ended).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(tokens).toEqual(['t1', 't2 for t1']);
  });

  test('a constant one is not tried twice', async () => {
    const { ended, tokens } = run([[refusal('UNAUTHENTICATED')], []]);
    await expect(ended).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(tokens).toEqual(['t']);
  });

  test('a function that throws is called again later', async () => {
    const error = new Error('Offline');
    let calls = 0;
    const { ended, tokens } = run([[ready('c0')]], {
      token: () => {
        if ((calls += 1) < 3) throw error;
        return 't';
      },
    });
    await ended;
    expect(tokens).toEqual(['t']);
  });

  test('a function that reports the end of the session ends the watch', async () => {
    const { ended } = run([[]], { token: () => Promise.reject(refusal('UNAUTHENTICATED')) });
    await expect(ended).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test('a function that never responds does not keep a watch from ending', async () => {
    const abort = new AbortController();
    const { ended } = run([], {
      signal: abort.signal,
      token: () => new Promise<string>(() => undefined),
    });
    abort.abort();
    await ended;
  });

  test('a function that does not respond in time is called again', async () => {
    const answers = [new Promise<string>(() => undefined), 'second'];
    const { calls, ended, tokens } = run([[ready('c0')]], {
      token: () => answers.shift() ?? 'third',
      timeoutMs: 1,
    });
    await ended;
    expect(tokens).toEqual(['second']);
    expect(calls[0]).toBe('waiting: The token function does not answer');
  });
});

test('nothing is delivered after the signal has ended the watch', async () => {
  const abort = new AbortController();
  const seen: FeedEvent<Item>[] = [];
  const { ended } = run([[ready('c0'), added('c1'), added('c2')]], {
    signal: abort.signal,
    onEvent(event) {
      seen.push(event);
      abort.abort();
    },
  });
  await ended;
  expect(seen.map(({ cursor }) => cursor)).toEqual(['c1']);
});
