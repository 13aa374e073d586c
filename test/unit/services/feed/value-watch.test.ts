import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import type { UnreadCount } from '../../../../src/core/shapes.ts';
import { ValueWatch } from '../../../../src/feed/watch/value-watch.ts';

interface Counting {
  readonly answer: (count: number) => void;
  readonly fail: (error: Error) => void;
}

/** A watch whose counts wait for their answer. */
function openWatch() {
  const controller = new AbortController();
  const begun: Counting[] = [];
  let onBegun: () => void = () => undefined;
  const unread = new ValueWatch<UnreadCount>({
    signal: controller.signal,
    isSame: (one, other) => one.count === other.count,
    read: () =>
      new Promise<UnreadCount>((resolve, reject) => {
        begun.push({
          answer: (count) => {
            resolve({ count, isExact: true });
          },
          fail: reject,
        });
        onBegun();
      }),
  });
  /** Resolves when the n-th count has begun. */
  async function count(n: number): Promise<Counting> {
    for (;;) {
      const counting = begun[n - 1];
      if (counting !== undefined) return counting;
      await new Promise<void>((resolve) => {
        onBegun = resolve;
      });
    }
  }
  return { unread, controller, begun, count };
}

test('combines many changes into one count, and those during a count into one more', async () => {
  const { unread, begun, count } = openWatch();
  for (let n = 0; n < 5; n += 1) unread.touch();
  const first = await count(1);
  for (let n = 0; n < 5; n += 1) unread.touch();
  const ready = unread.ready();
  first.answer(1);
  await ready;
  expect(unread.take()).toEqual({ value: { count: 1, isExact: true } });
  (await count(2)).answer(2);
  await unread.ready();
  expect(unread.take()?.value.count).toBe(2);
  expect(begun).toHaveLength(2);
});

test('keeps only the latest count that was not taken', async () => {
  const { unread, count } = openWatch();
  for (const n of [1, 2, 3]) {
    unread.touch();
    (await count(n)).answer(n);
    await unread.ready();
  }
  unread.touch();
  (await count(4)).answer(4);
  unread.touch();
  await count(5);
  expect(unread.take()?.value.count).toBe(4);
  expect(unread.take()).toBeNull();
});

test('never reports the same count twice in a row, unless it was restarted', async () => {
  const { unread, count } = openWatch();
  unread.touch();
  (await count(1)).answer(7);
  await unread.ready();
  expect(unread.take()?.value.count).toBe(7);
  unread.touch();
  (await count(2)).answer(7);
  unread.restart();
  (await count(3)).answer(7);
  await unread.ready();
  expect(unread.take()?.value.count).toBe(7);
});

test('counts again if it was restarted during a count, and drops that count', async () => {
  const { unread, begun, count } = openWatch();
  unread.touch();
  const outdated = await count(1);
  unread.restart();
  outdated.answer(7);
  const second = await count(2);
  expect(unread.take()).toBeNull();
  second.answer(8);
  await unread.ready();
  expect(unread.take()?.value.count).toBe(8);
  expect(begun).toHaveLength(2);
});

test('drops the failure of a restarted count', async () => {
  const { unread, count } = openWatch();
  unread.touch();
  const outdated = await count(1);
  unread.restart();
  outdated.fail(new Error('Away'));
  (await count(2)).answer(1);
  await unread.ready();
  expect(unread.take()?.value.count).toBe(1);
});

test('passes on the failure of a count', async () => {
  const { unread, count } = openWatch();
  unread.touch();
  (await count(1)).fail(new Error('Away'));
  await unread.ready();
  expect(() => unread.take()).toThrow('Away');
});

describe('leaves nothing behind when it ends', () => {
  test('while it gathers changes', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { unread, controller, begun } = openWatch();
      expect(vi.getTimerCount()).toBe(0);
      unread.touch();
      unread.touch();
      expect(vi.getTimerCount()).toBe(1);
      controller.abort();
      unread.touch();
      expect(vi.getTimerCount()).toBe(0);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
      expect(begun).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('while it counts', async () => {
    const { unread, controller, count } = openWatch();
    unread.touch();
    const counting = await count(1);
    unread.touch();
    controller.abort();
    counting.answer(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(unread.take()).toBeNull();
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('before it has begun', () => {
    const unread = new ValueWatch<UnreadCount>({
      signal: AbortSignal.abort(),
      isSame: () => false,
      read: () => Promise.reject(new Error()),
    });
    unread.touch();
    expect(unread.take()).toBeNull();
  });
});
