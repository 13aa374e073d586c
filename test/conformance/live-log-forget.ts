import { describe, expect, it } from 'vitest';
import type { MakeLiveLog } from './live-log-fixture.ts';
import { entry, eventually, Tap } from './live-log-tools.ts';

export function liveLogForget(makeLog: MakeLiveLog): void {
  describe('a forgotten log', () => {
    it('leaves nothing stored for its reader, and others unchanged', async () => {
      await using fixture = await makeLog();
      const ann = await Tap.open(fixture.log, 'ann');
      const bob = await Tap.open(fixture.log, 'bob');
      await fixture.log.append([entry('ann', 1), entry('bob', 1)]);
      expect(await ann.labels(2)).toEqual(['ready', 1]);
      const before = await fixture.stored();
      ann[Symbol.dispose]();
      await fixture.log.forget('ann');
      expect(await fixture.stored()).toBeLessThan(before);
      expect(await fixture.log.watched(['ann', 'bob'])).toEqual(['bob']);
      await fixture.log.append([entry('ann', 2), entry('bob', 2)]);
      expect(await bob.labels(3)).toEqual(['ready', 1, 2]);
      bob[Symbol.dispose]();
      await fixture.log.forget('bob');
      await eventually('nothing is stored', async () => (await fixture.stored()) === 0);
    });

    it('makes watchers start over, and misses nothing from then on', async () => {
      await using fixture = await makeLog();
      using tap = await Tap.open(fixture.log, 'ann');
      await fixture.log.append([entry('ann', 1)]);
      expect(await tap.labels(2)).toEqual(['ready', 1]);
      await fixture.log.forget('ann');
      expect(await tap.labels(1)).toEqual(['resync log-interrupted']);
      await fixture.log.append([entry('ann', 2)]);
      expect(await tap.labels(1)).toEqual([2]);
    });

    it('invalidates earlier cursors', async () => {
      await using fixture = await makeLog();
      const tap = await Tap.open(fixture.log, 'ann');
      await fixture.log.append([entry('ann', 1)]);
      const [, last] = await tap.take(2);
      tap[Symbol.dispose]();
      await fixture.log.forget('ann');
      using again = await Tap.open(fixture.log, 'ann', last?.cursor);
      expect(await again.labels(2)).toEqual(['ready', 'resync log-interrupted']);
    });

    it('is not the only one after an interruption: all watchers and all who resume start over', async () => {
      await using fixture = await makeLog();
      using ann = await Tap.open(fixture.log, 'ann');
      const bob = await Tap.open(fixture.log, 'bob');
      await fixture.log.append([entry('ann', 1), entry('bob', 1)]);
      expect(await ann.labels(2)).toEqual(['ready', 1]);
      const [, last] = await bob.take(2);
      bob[Symbol.dispose]();
      await fixture.log.interrupt();
      expect(await ann.labels(1)).toEqual([expect.stringMatching(/^resync /)]);
      using again = await Tap.open(fixture.log, 'bob', last?.cursor);
      expect(await again.labels(2)).toEqual(['ready', expect.stringMatching(/^resync /)]);
      await fixture.log.append([entry('ann', 2), entry('bob', 2)]);
      expect(await ann.labels(1)).toEqual([2]);
      expect(await again.labels(1)).toEqual([2]);
    });

    it('can be forgotten twice, and without ever having existed', async () => {
      await using fixture = await makeLog();
      await fixture.log.forget('nobody');
      await fixture.log.forget('nobody');
      expect(await fixture.log.watched(['nobody'])).toEqual([]);
      expect(await fixture.stored()).toBe(0);
    });
  });
}
