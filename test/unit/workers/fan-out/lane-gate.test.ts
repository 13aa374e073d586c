import { describe, expect, test } from 'vitest';
import type { Lane } from '../../../../src/domain/lane.ts';
import { LaneGate, type WorkKind } from '../../../../src/workers/fan-out/lane-gate.ts';

/** Chunks that end when they are told to, and in which order they began. */
function scene(): {
  readonly gate: LaneGate;
  readonly begun: string[];
  add(lane: Lane, kind?: WorkKind, count?: number): void;
  /** Ends the chunk that began first, and lets others begin. */
  end(): Promise<string>;
  settled(): Promise<void>;
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
  };
}

const count = (names: readonly string[], name: string): number =>
  names.filter((other) => other === name).length;

describe('the gate of the lanes', () => {
  test('lets a live chunk begin at once, however many bulk chunks wait', async () => {
    const { add, begun, settled } = scene();
    add('BULK', 'fan-out', 500);
    await settled();
    expect(begun).toEqual(['BULK', 'BULK', 'BULK', 'BULK']);
    add('LIVE');
    add('URGENT');
    await settled();
    expect(begun.slice(4)).toEqual(['LIVE', 'URGENT']);
  });

  test('gives way to a more urgent pass as a whole and takes the room back when it has ended', async () => {
    const { gate, add, begun, end, settled } = scene();
    add('BULK', 'fan-out', 20);
    const pass = gate.enter('LIVE');
    await settled();
    for (let n = 0; n < 3; n++) await end();
    // One chunk at a time is its share.
    expect(count(begun, 'BULK')).toBe(4);
    await end();
    expect(count(begun, 'BULK')).toBe(5);
    pass[Symbol.dispose]();
    await settled();
    expect(count(begun, 'BULK')).toBe(8);
  });

  test('gives every lane that waits its share', async () => {
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

  test('lets a lane that was idle save nothing up', async () => {
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

  test('lets the kinds of a lane take turns', async () => {
    const { add, begun, end, settled } = scene();
    add('BULK', 'fan-out', 100);
    await settled();
    add('BULK', 'rebuild', 3);
    add('BULK', 'rename', 3);
    for (let n = 0; n < 10; n++) await end();
    expect(count(begun.slice(0, 14), 'BULK rebuild')).toBe(3);
    expect(count(begun.slice(0, 14), 'BULK rename')).toBe(3);
  });

  test('goes on after a chunk that failed', async () => {
    const gate = new LaneGate();
    await expect(
      gate.run({ lane: 'BULK', kind: 'rename' }, () => Promise.reject(new Error('No'))),
    ).rejects.toThrow('No');
    for (let n = 0; n < 5; n++)
      expect(await gate.run({ lane: 'BULK', kind: 'rename' }, () => Promise.resolve(n))).toBe(n);
  });
});
