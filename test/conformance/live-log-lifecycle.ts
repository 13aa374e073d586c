import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { LiveLogUnavailable, sliceLog, threadLog } from '../../src/live/live-log.ts';
import { drain, entries, entry, eventually, label, numbers, Tap } from './live-log-tools.ts';
import type { MakeLiveLog } from './live-log-fixture.ts';

function zeros(held: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.keys(held).map((name) => [name, 0]));
}

export function liveLogLifecycle(makeLog: MakeLiveLog): void {
  describe('slices and threads', () => {
    it('have logs of their own, also beside readers who are called as they are, and are no readers', async () => {
      await using fixture = await makeLog();
      const { log } = fixture;
      const names = [sliceLog('ann'), threadLog('ann'), 'ref:ann', 'action:ann', 'ann'];
      const taps = await Promise.all(names.map((name) => Tap.open(log, name)));
      for (const tap of taps) expect(label(await tap.next())).toBe('ready');
      await log.append(names.flatMap((name, index) => entries(name, index, index)));
      for (const [index, tap] of taps.entries()) expect(label(await tap.next())).toBe(index);
      const readers = new Set<string>();
      for await (const some of log.allWatched()) for (const userId of some) readers.add(userId);
      expect([...readers].sort()).toEqual(['action:ann', 'ann', 'ref:ann']);
      expect(await log.watched(names)).toEqual(names);
      for (const tap of taps) tap[Symbol.dispose]();
    });

    it('keep what an event says of an interaction', async () => {
      await using fixture = await makeLog();
      const name = threadLog('a');
      const event = { kind: 'interaction', actionId: 'a', interactionId: 'b', isGone: true } as const;
      const stream = await fixture.log.watch({ userId: name, signal: new AbortController().signal });
      await fixture.log.append([{ userId: name, event }]);
      await stream.next();
      expect((await stream.next()).value).toMatchObject({ kind: 'event', event });
      await stream.return?.();
    });
  });

  describe('a stream', () => {
    it('ends without an error when its signal aborts, and drops unread messages', async () => {
      await using fixture = await makeLog();
      const tap = await Tap.open(fixture.log, 'ann');
      await fixture.log.append(entries('ann', 1, 3));
      tap[Symbol.dispose]();
      expect(await tap.raw()).toEqual({ done: true, value: undefined });
    });

    it('ends while it waits for a message', async () => {
      await using fixture = await makeLog();
      const tap = await Tap.open(fixture.log, 'ann');
      await tap.next();
      const waiting = [tap.raw(), tap.raw()];
      tap[Symbol.dispose]();
      expect(await Promise.all(waiting)).toEqual([
        { done: true, value: undefined },
        { done: true, value: undefined },
      ]);
    });

    it('is empty if its signal was aborted before', async () => {
      await using fixture = await makeLog();
      const stream = await fixture.log.watch({ userId: 'ann', signal: AbortSignal.abort() });
      expect(await drain(stream)).toEqual([]);
      expect(await fixture.log.watched(['ann'])).toEqual([]);
    });

    it('is empty and leaves nothing if its signal aborts while it opens', async () => {
      await using fixture = await makeLog();
      const before = await fixture.held();
      const controller = new AbortController();
      const opening = fixture.log.watch({ userId: 'ann', signal: controller.signal });
      controller.abort();
      expect(await drain(await opening)).toEqual([]);
      await eventually('nothing is kept', async () => sum(await fixture.held()) === sum(before));
    });

    it('ends with the loop that reads it', async () => {
      await using fixture = await makeLog();
      const stream = await fixture.log.watch({ userId: 'ann', signal: new AbortController().signal });
      for await (const message of stream) {
        expect(message.kind).toBe('ready');
        break;
      }
      expect(await drain(stream)).toEqual([]);
      await eventually('nothing is kept', async () => sum(await fixture.held()) === 0);
    });
  });

  it('leaves no listener on a signal that outlives its streams', async () => {
    await using fixture = await makeLog();
    const { signal } = new AbortController();
    for (const n of numbers(1, 20)) {
      const stream = await fixture.log.watch({ userId: `u${String(n % 3)}`, signal });
      for await (const message of stream) if (message.kind === 'ready') break;
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  describe('a log', () => {
    it('keeps nothing after 1,000 streams were opened and ended, in every way', async () => {
      await using fixture = await makeLog({ windowMs: 300, renewEveryMs: 30 });
      expect(await fixture.held()).toEqual(zeros(await fixture.held()));
      for (const round of numbers(1, 10)) {
        const taps = await Promise.all(
          numbers(1, 100).map((n) => Tap.open(fixture.log, `reader${String((round * n) % 70)}`)),
        );
        expect(sum(await fixture.held())).toBeGreaterThan(0);
        await fixture.log.append(numbers(0, 69).map((n) => entry(`reader${String(n)}`, n)));
        for (const [index, tap] of taps.entries()) {
          if (index % 3 === 0) await tap.next();
          if (index % 2 === 0) tap[Symbol.dispose]();
          else await tap.return();
        }
      }
      await eventually('no stream holds anything', async () => sum(await fixture.held()) === 0);
      await eventually('no reader has anything stored', async () => (await fixture.stored()) === 0);
      await eventually('nothing is left at all', async () => sum(await fixture.held()) === 0);
    });

    it('ends its streams when it is closed, and rejects everything afterwards', async () => {
      await using fixture = await makeLog();
      const tap = await Tap.open(fixture.log, 'ann');
      await tap.next();
      const waiting = tap.raw();
      await fixture.log[Symbol.asyncDispose]();
      expect(await waiting).toEqual({ done: true, value: undefined });
      await expect(fixture.log.watched(['ann'])).rejects.toThrow(LiveLogUnavailable);
      await expect(fixture.log.append([entry('ann', 1)])).rejects.toThrow(LiveLogUnavailable);
      await expect(Tap.open(fixture.log, 'ann')).rejects.toThrow(LiveLogUnavailable);
      await fixture.log[Symbol.asyncDispose]();
      expect(await fixture.held()).toEqual(zeros(await fixture.held()));
    });

    it('rejects limits that are not positive integers', async () => {
      for (const options of [
        { logLength: 0 },
        { windowMs: -1 },
        { bufferLimit: 1.5 },
        { renewEveryMs: Number.NaN },
      ])
        await expect(makeLog(options)).rejects.toThrow(RangeError);
    });
  });
}

function sum(held: Readonly<Record<string, number>>): number {
  return Object.values(held).reduce((total, count) => total + count, 0);
}
