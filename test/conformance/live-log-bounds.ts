import { describe, expect, it } from 'vitest';
import { entries, entry, label, numbers, Tap } from './live-log-tools.ts';
import type { MakeLiveLog } from './live-log-fixture.ts';

export function liveLogBounds(makeLog: MakeLiveLog): void {
  describe('a slow watcher', () => {
    it('keeps everything up to the limit', async () => {
      await using fixture = await makeLog({ bufferLimit: 10 });
      using slow = await Tap.open(fixture.log, 'ann');
      using witness = await Tap.open(fixture.log, 'ann');
      await fixture.log.append(entries('ann', 1, 10));
      await witness.until(10);
      expect(await slow.labels(11)).toEqual(['ready', ...numbers(1, 10)]);
    });

    it('gets one resync for everything above the limit, and continues after it', async () => {
      await using fixture = await makeLog({ bufferLimit: 10 });
      using slow = await Tap.open(fixture.log, 'ann');
      using witness = await Tap.open(fixture.log, 'ann');
      await witness.next();
      for (const n of numbers(1, 11)) {
        await fixture.log.append([entry('ann', n)]);
        await witness.until(n);
      }
      const [ready, resync] = await slow.take(2);
      expect([ready?.kind, resync?.kind]).toEqual(['ready', 'resync']);
      expect(resync).toMatchObject({ reason: 'buffer-overflow' });
      await fixture.log.append([entry('ann', 12)]);
      expect(await slow.labels(1)).toEqual([12]);
      using again = await Tap.open(fixture.log, 'ann', resync?.cursor);
      expect(await again.labels(2)).toEqual(['ready', 12]);
    });

    it('buffers no more than the limit however much is appended, without gaps', async () => {
      await using fixture = await makeLog({ bufferLimit: 10 });
      using slow = await Tap.open(fixture.log, 'ann');
      using witness = await Tap.open(fixture.log, 'ann');
      await witness.next();
      for (const n of numbers(1, 137)) {
        await fixture.log.append([entry('ann', n)]);
        await witness.until(n);
      }
      await fixture.log.append([entry('ann', 138)]);
      const labels = (await slow.until(138)).map(label);
      expect(labels.slice(0, 2)).toEqual(['ready', 'resync buffer-overflow']);
      const events = labels.slice(2);
      expect(events.length).toBeLessThanOrEqual(10);
      expect(events).toEqual(numbers(138 - events.length + 1, 138));
    });

    it('does not delay or harm other watchers of its reader', async () => {
      await using fixture = await makeLog({ bufferLimit: 3 });
      using _slow = await Tap.open(fixture.log, 'ann');
      using fast = await Tap.open(fixture.log, 'ann');
      await fast.next();
      for (const n of numbers(1, 30)) {
        await fixture.log.append([entry('ann', n)]);
        expect(await fast.labels(1)).toEqual([n]);
      }
    });
  });
}
