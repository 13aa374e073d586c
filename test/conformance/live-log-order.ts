import { describe, expect, it } from 'vitest';
import type { LiveEvent } from '../../src/live/live-log.ts';
import { entries, entry, event, label, numbers, Tap } from './live-log-tools.ts';
import type { MakeLiveLog } from './live-log-fixture.ts';

export function liveLogOrder(makeLog: MakeLiveLog): void {
  describe('events', () => {
    it('follow ready, in the order of their appends, each once', async () => {
      await using fixture = await makeLog();
      using tap = await Tap.open(fixture.log, 'ann');
      await fixture.log.append(entries('ann', 1, 3));
      await fixture.log.append(entries('ann', 4, 400));
      expect(await tap.labels(401)).toEqual(['ready', ...numbers(1, 400)]);
    });

    it('keep the order in which append was called without awaiting', async () => {
      await using fixture = await makeLog();
      using tap = await Tap.open(fixture.log, 'ann');
      await Promise.all(numbers(1, 50).map((n) => fixture.log.append([entry('ann', n)])));
      expect(await tap.labels(51)).toEqual(['ready', ...numbers(1, 50)]);
    });

    it('arrive as they were appended, to the millisecond', async () => {
      await using fixture = await makeLog();
      const sent: LiveEvent[] = [
        {
          ...event(1, 'added'),
          relevancy: new Date('2024-02-29T23:59:59.999Z'),
          reasons: ['MENTION', 'TEAM'],
        },
        { ...event(2, 'updated'), relevancy: new Date(0), reasons: ['PULL'] },
        { ...event(3, 'removed'), reasons: [] },
        { kind: 'list', change: 'marks' },
      ];
      using tap = await Tap.open(fixture.log, 'ann');
      await fixture.log.append(sent.map((one) => ({ userId: 'ann', event: one })));
      const [, ...messages] = await tap.take(5);
      expect(messages.map((message) => (message.kind === 'event' ? message.event : null))).toEqual(sent);
    });

    it('from before the watch are not delivered', async () => {
      await using fixture = await makeLog();
      using first = await Tap.open(fixture.log, 'ann');
      await fixture.log.append(entries('ann', 1, 5));
      await first.until(5);
      using second = await Tap.open(fixture.log, 'ann');
      await fixture.log.append([entry('ann', 6)]);
      expect(await second.labels(2)).toEqual(['ready', 6]);
    });

    it('reach only the watchers of their reader', async () => {
      await using fixture = await makeLog();
      const ids = ['ann', 'ann:b', 'ann b', 'Änn', '', 'ann\n'];
      const taps = await Promise.all(ids.map((id) => Tap.open(fixture.log, id)));
      const mixed = numbers(1, 20).flatMap((n) => ids.map((id, index) => entry(id, n * 10 + index)));
      await fixture.log.append(mixed);
      for (const [index, tap] of taps.entries()) {
        using open = tap;
        expect(await open.labels(21)).toEqual(['ready', ...numbers(1, 20).map((n) => n * 10 + index)]);
      }
    });

    it('reach every watcher of a reader', async () => {
      await using fixture = await makeLog();
      const taps = await Promise.all(numbers(1, 20).map(() => Tap.open(fixture.log, 'ann')));
      await fixture.log.append(entries('ann', 1, 10));
      for (const tap of taps) {
        using open = tap;
        expect(await open.labels(11)).toEqual(['ready', ...numbers(1, 10)]);
      }
    });

    it('continue for the others when one watcher of a reader leaves', async () => {
      await using fixture = await makeLog();
      const leaving = await Tap.open(fixture.log, 'ann');
      using staying = await Tap.open(fixture.log, 'ann');
      leaving[Symbol.dispose]();
      await fixture.log.append([entry('ann', 1)]);
      expect(await staying.labels(2)).toEqual(['ready', 1]);
    });

    it('have distinct cursors', async () => {
      await using fixture = await makeLog();
      using tap = await Tap.open(fixture.log, 'ann');
      await fixture.log.append(entries('ann', 1, 100));
      const messages = await tap.take(101);
      expect(new Set(messages.map(({ cursor }) => cursor)).size).toBe(101);
      expect(label(messages[100] ?? messages[0] ?? { kind: 'ready', cursor: '' })).toBe(100);
    });
  });

  describe('watched', () => {
    it('returns the watched ones among the given readers, in order', async () => {
      await using fixture = await makeLog();
      using _ann = await Tap.open(fixture.log, 'ann');
      using _bob = await Tap.open(fixture.log, 'bob');
      expect(await fixture.log.watched(['zoe', 'bob', 'kim', 'ann'])).toEqual(['bob', 'ann']);
    });

    it('works for none and for thousands', async () => {
      await using fixture = await makeLog();
      using _ann = await Tap.open(fixture.log, 'u4321');
      expect(await fixture.log.watched([])).toEqual([]);
      expect(await fixture.log.watched(numbers(1, 5000).map((n) => `u${String(n)}`))).toEqual(['u4321']);
    });

    it('does not include readers without watchers after an append', async () => {
      await using fixture = await makeLog();
      await fixture.log.append([entry('ann', 1)]);
      expect(await fixture.log.watched(['ann'])).toEqual([]);
      expect(await fixture.stored()).toBe(0);
    });

    it('includes a reader for the window after the last watcher left', async () => {
      await using fixture = await makeLog();
      const tap = await Tap.open(fixture.log, 'ann');
      tap[Symbol.dispose]();
      expect(await fixture.log.watched(['ann'])).toEqual(['ann']);
    });
  });
}
