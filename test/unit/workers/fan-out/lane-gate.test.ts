import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Lane } from '../../../../src/domain/lane.ts';
import { LaneGate, type WorkKind } from '../../../../src/fan-out/lane-gate.ts';

/** Chunks that end when the test says so, and in which order they began. */
function scene(): {
  readonly gate: LaneGate;
  readonly begun: string[];
  add(lane: Lane, kind?: WorkKind, count?: number): void;
  /** Ends the chunk that began first, and lets others begin. */
  end(): Promise<string>;
  settled(): Promise<void>;
  pass(milliseconds: number): Promise<void>;
} {
  const gate = new LaneGate();
  const begun: string[] = [];
  const open: { readonly name: string; readonly end: () => void }[] = [];
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    gate,
    begun,
    add(lane, kind = 'fan-out', count = 1) {
      for (let n = 0; n < count; n++)
        void gate.run({ lane, kind }, () => {
          const name = kind === 'fan-out' ? lane : `${lane} ${kind}`;
          begun.push(name);
          return new Promise<void>((resolve) => open.push({ name, end: resolve }));
        });
    },
    async end() {
      const chunk = open.shift();
      if (chunk === undefined) throw new Error('No chunk is under way');
      chunk.end();
      await settled();
      return chunk.name;
    },
    settled,
    async pass(milliseconds) {
      await settled();
      await vi.advanceTimersByTimeAsync(milliseconds);
      await settled();
    },
  };
}

const count = (names: readonly string[], name: string): number =>
  names.filter((other) => other === name).length;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the lane gate', () => {
  test('starts a live chunk at once, however many bulk chunks wait', async () => {
    const { add, begun, settled } = scene();
    add('BULK', 'fan-out', 500);
    await settled();
    expect(begun).toEqual(['BULK', 'BULK']);
    add('LIVE');
    add('URGENT');
    await settled();
    expect(begun.slice(2)).toEqual(['LIVE', 'URGENT']);
  });

  test('runs one bulk chunk at a time beside a more urgent pass, with pauses', async () => {
    const { gate, add, begun, end, pass } = scene();
    add('BULK', 'fan-out', 20);
    using _pass = gate.enter('LIVE');
    await pass(100);
    await end();
    await end();
    expect(count(begun, 'BULK')).toBe(2);
    // Both took 100 ms.
    await pass(299);
    expect(count(begun, 'BULK')).toBe(2);
    await pass(1);
    expect(count(begun, 'BULK')).toBe(3);
    await pass(10_000);
    expect(count(begun, 'BULK')).toBe(3);
    await end();
    // The longest rest.
    await pass(999);
    expect(count(begun, 'BULK')).toBe(3);
    await pass(1);
    expect(count(begun, 'BULK')).toBe(4);
  });

  test('holds bulk back briefly after a more urgent pass, then gives it all its slots', async () => {
    const { gate, add, begun, end, pass } = scene();
    const urgent = gate.enter('URGENT');
    add('BULK', 'fan-out', 20);
    await pass(1);
    expect(begun).toEqual(['BULK']);
    urgent[Symbol.dispose]();
    await pass(600);
    expect(begun).toEqual(['BULK']);
    await end();
    await pass(1_000);
    expect(begun).toEqual(['BULK', 'BULK', 'BULK']);
  });

  test('gives bulk its slots back after a more urgent pass, however long the current chunk takes', async () => {
    const { gate, add, begun, pass } = scene();
    const urgent = gate.enter('URGENT');
    add('BULK', 'fan-out', 20);
    await pass(1);
    urgent[Symbol.dispose]();
    await pass(999);
    expect(begun).toEqual(['BULK']);
    await pass(1);
    expect(begun).toEqual(['BULK', 'BULK']);
  });

  test('does not make a short pause wait for a longer one', async () => {
    const { gate, add, begun, end, pass } = scene();
    const urgent = gate.enter('URGENT');
    add('BULK', 'fan-out', 20);
    await pass(10);
    urgent[Symbol.dispose]();
    // Bulk may have more room in a second, but what is under way ends sooner.
    await pass(10);
    await end();
    await pass(60);
    expect(begun).toEqual(['BULK', 'BULK']);
  });

  test('starts bulk if its pause ends while the gate decides', async () => {
    const { gate, add, begun, end, pass } = scene();
    using _pass = gate.enter('LIVE');
    add('BULK');
    await pass(100);
    await end();
    const restsUntil = performance.now() + 300;
    const clock = vi
      .spyOn(performance, 'now')
      .mockReturnValueOnce(restsUntil - 0.1)
      .mockReturnValue(restsUntil + 0.1);
    add('BULK');
    clock.mockRestore();
    await pass(1_000);
    expect(begun).toEqual(['BULK', 'BULK']);
  });

  test('never pauses bulk while it is alone', async () => {
    const { add, begun, end, pass } = scene();
    add('BULK', 'fan-out', 20);
    await pass(500);
    await end();
    expect(begun).toEqual(['BULK', 'BULK', 'BULK']);
  });

  test('runs some live chunks beside an urgent pass', async () => {
    const { gate, add, begun, pass } = scene();
    const urgent = gate.enter('URGENT');
    add('LIVE', 'fan-out', 20);
    await pass(1);
    expect(count(begun, 'LIVE')).toBe(4);
    urgent[Symbol.dispose]();
    await pass(1);
    expect(count(begun, 'LIVE')).toBe(12);
  });

  test('gives every waiting lane its share', async () => {
    const { add, begun, end, settled } = scene();
    add('BULK', 'fan-out', 400);
    add('LIVE', 'fan-out', 400);
    add('URGENT', 'fan-out', 400);
    await settled();
    for (let n = 0; n < 330; n++) await end();
    const recent = begun.slice(-210);
    expect(count(recent, 'BULK')).toBeGreaterThanOrEqual(5);
    expect(count(recent, 'LIVE')).toBeGreaterThanOrEqual(3 * count(recent, 'BULK'));
    expect(count(recent, 'URGENT')).toBeGreaterThan(2 * count(recent, 'LIVE'));
  });

  test('does not let an idle lane save up turns', async () => {
    const { add, begun, end, settled } = scene();
    add('LIVE', 'fan-out', 300);
    await settled();
    for (let n = 0; n < 100; n++) await end();
    add('BULK', 'fan-out', 100);
    const from = begun.length;
    for (let n = 0; n < 50; n++) await end();
    expect(count(begun.slice(from), 'BULK')).toBeLessThanOrEqual(12);
    expect(count(begun.slice(from), 'BULK')).toBeGreaterThan(0);
  });

  test('alternates between the kinds of work in a lane', async () => {
    const { add, begun, end, settled } = scene();
    add('BULK', 'fan-out', 100);
    await settled();
    add('BULK', 'rebuild', 3);
    add('BULK', 'rename', 3);
    for (let n = 0; n < 10; n++) await end();
    expect(count(begun.slice(0, 12), 'BULK rebuild')).toBe(3);
    expect(count(begun.slice(0, 12), 'BULK rename')).toBe(3);
  });

  test('continues after a failed chunk', async () => {
    const gate = new LaneGate();
    await expect(
      gate.run({ lane: 'BULK', kind: 'rename' }, () => Promise.reject(new Error('No'))),
    ).rejects.toThrow('No');
    for (let n = 0; n < 5; n++)
      expect(await gate.run({ lane: 'BULK', kind: 'rename' }, () => Promise.resolve(n))).toBe(n);
  });
});
