import { describe, expect, it } from 'vitest';
import { entries, entry, eventually, label, numbers, Tap } from './live-log-tools.ts';
import type { MakeLiveLog } from './live-log-fixture.ts';

const SHORT = { windowMs: 200, renewEveryMs: 20 };

export function liveLogResume(makeLog: MakeLiveLog): void {
  describe('resuming', () => {
    it('after any message delivers exactly the rest', async () => {
      await using fixture = await makeLog();
      using tap = await Tap.open(fixture.log, 'ann');
      await fixture.log.append(entries('ann', 1, 12));
      const messages = await tap.take(13);
      for (const [index, { cursor }] of messages.entries()) {
        using again = await Tap.open(fixture.log, 'ann', cursor);
        const rest = numbers(index + 1, 12);
        expect(await again.labels(1 + rest.length)).toEqual(['ready', ...rest]);
      }
    });

    it('delivers what was appended without a watcher', async () => {
      await using fixture = await makeLog();
      const tap = await Tap.open(fixture.log, 'ann');
      const { cursor } = await tap.next();
      tap[Symbol.dispose]();
      await fixture.log.append(entries('ann', 1, 5));
      using again = await Tap.open(fixture.log, 'ann', cursor);
      await fixture.log.append([entry('ann', 6)]);
      expect(await again.labels(7)).toEqual(['ready', ...numbers(1, 6)]);
    });

    it('from its own ready, before anything else was read, delivers the same again', async () => {
      await using fixture = await makeLog();
      using tap = await Tap.open(fixture.log, 'ann');
      await fixture.log.append(entries('ann', 1, 3));
      const [, first] = await tap.take(2);
      using again = await Tap.open(fixture.log, 'ann', first?.cursor);
      using third = await Tap.open(fixture.log, 'ann', (await again.next()).cursor);
      expect(await third.labels(3)).toEqual(['ready', 2, 3]);
    });

    it('from a position taken without watching delivers exactly what was appended since', async () => {
      await using fixture = await makeLog();
      const first = await fixture.log.position('ann');
      await fixture.log.append(entries('ann', 1, 2));
      const second = await fixture.log.position('ann');
      await fixture.log.append(entries('ann', 3, 4));
      using fromFirst = await Tap.open(fixture.log, 'ann', first);
      using fromSecond = await Tap.open(fixture.log, 'ann', second);
      await fixture.log.append([entry('ann', 5)]);
      expect(await fromFirst.labels(6)).toEqual(['ready', ...numbers(1, 5)]);
      expect(await fromSecond.labels(4)).toEqual(['ready', ...numbers(3, 5)]);
    });

    it('a position keeps the log as a watcher does that has left', async () => {
      await using fixture = await makeLog();
      await fixture.log.position('ann');
      expect(await fixture.log.watched(['ann', 'bob'])).toEqual(['ann']);
      using other = await Tap.open(fixture.log, 'bob', await fixture.log.position('ann'));
      expect(await other.labels(2)).toEqual(['ready', 'resync invalid-cursor']);
    });

    it('repeats the resync if the connection broke between ready and resync', async () => {
      await using fixture = await makeLog();
      using tap = await Tap.open(fixture.log, 'ann', 'nonsense');
      using again = await Tap.open(fixture.log, 'ann', (await tap.next()).cursor);
      expect(await again.labels(2)).toEqual(['ready', 'resync invalid-cursor']);
    });

    it('after a resync continues from its cursor', async () => {
      await using fixture = await makeLog();
      using tap = await Tap.open(fixture.log, 'ann', 'nonsense');
      const [, resync] = await tap.take(2);
      await fixture.log.append(entries('ann', 1, 2));
      expect(await tap.labels(2)).toEqual([1, 2]);
      using again = await Tap.open(fixture.log, 'ann', resync?.cursor);
      expect(await again.labels(3)).toEqual(['ready', 1, 2]);
    });

    it('replays a whole log without gaps', async () => {
      await using fixture = await makeLog({ logLength: 30, bufferLimit: 5 });
      const tap = await Tap.open(fixture.log, 'ann');
      const { cursor } = await tap.next();
      tap[Symbol.dispose]();
      await fixture.log.append(entries('ann', 1, 30));
      using again = await Tap.open(fixture.log, 'ann', cursor);
      expect(await again.labels(31)).toEqual(['ready', ...numbers(1, 30)]);
    });
  });

  describe('a resync has the reason', () => {
    it('window-passed if the log was trimmed by length, one event too far', async () => {
      await using fixture = await makeLog({ logLength: 5 });
      using tap = await Tap.open(fixture.log, 'ann');
      await fixture.log.append(entries('ann', 1, 7));
      const messages = await tap.take(8);
      using reaching = await Tap.open(fixture.log, 'ann', messages[2]?.cursor);
      expect(await reaching.labels(6)).toEqual(['ready', ...numbers(3, 7)]);
      using short = await Tap.open(fixture.log, 'ann', messages[1]?.cursor);
      expect(await short.labels(2)).toEqual(['ready', 'resync window-passed']);
      await fixture.log.append([entry('ann', 8)]);
      expect(await short.labels(1)).toEqual([8]);
    });

    it('window-passed if the log was trimmed by age', async () => {
      await using fixture = await makeLog({ ...SHORT, logLength: 1_000_000 });
      using tap = await Tap.open(fixture.log, 'ann');
      const { cursor } = await tap.next();
      let n = 0;
      let second: number | string = '';
      await eventually('the first event has aged out', async () => {
        await fixture.log.append([entry('ann', (n += 1))]);
        using again = await Tap.open(fixture.log, 'ann', cursor);
        second = (await again.labels(2))[1] ?? '';
        return second !== 1;
      });
      expect(second).toBe('resync window-passed');
      expect((await tap.until(n)).map(label)).toEqual(numbers(1, n));
    });

    it('log-interrupted if the log was not kept meanwhile', async () => {
      await using fixture = await makeLog(SHORT);
      const tap = await Tap.open(fixture.log, 'ann');
      const { cursor } = await tap.next();
      tap[Symbol.dispose]();
      using _other = await Tap.open(fixture.log, 'bob');
      await eventually('nobody watches', async () => (await fixture.log.watched(['ann'])).length === 0);
      await fixture.log.append([entry('ann', 1)]);
      using again = await Tap.open(fixture.log, 'ann', cursor);
      await fixture.log.append([entry('ann', 2)]);
      expect(await again.labels(3)).toEqual(['ready', 'resync log-interrupted', 2]);
    });

    it('log-lost if the cursor is of another store', async () => {
      await using elsewhere = await makeLog();
      await using fixture = await makeLog();
      using foreign = await Tap.open(elsewhere.log, 'ann');
      using tap = await Tap.open(fixture.log, 'ann', (await foreign.next()).cursor);
      expect(await tap.labels(2)).toEqual(['ready', 'resync log-lost']);
    });

    it('invalid-cursor if the cursor is of another reader', async () => {
      await using fixture = await makeLog();
      using bob = await Tap.open(fixture.log, 'bob');
      await fixture.log.append([entry('bob', 1)]);
      for (const { cursor } of await bob.take(2)) {
        using tap = await Tap.open(fixture.log, 'ann', cursor);
        expect(await tap.labels(2)).toEqual(['ready', 'resync invalid-cursor']);
      }
    });

    it('invalid-cursor if the cursor points past the end', async () => {
      await using fixture = await makeLog();
      using tap = await Tap.open(fixture.log, 'ann');
      const { cursor } = await tap.next();
      const beyond = Buffer.from(cursor, 'base64url')
        .toString()
        .replace(/\d+-\d+$/, '9999999999999-7');
      using again = await Tap.open(fixture.log, 'ann', Buffer.from(beyond).toString('base64url'));
      expect(await again.labels(2)).toEqual(['ready', 'resync invalid-cursor']);
    });

    it('invalid-cursor if it is not a cursor at all', async () => {
      await using fixture = await makeLog();
      using tap = await Tap.open(fixture.log, 'ann');
      const { cursor } = await tap.next();
      const garbage = [
        '',
        ' ',
        '0',
        '$',
        'nonsense',
        '\0',
        'é'.repeat(50),
        `${cursor}=`,
        `${cursor}!`,
        ` ${cursor}`,
      ];
      for (const after of [...garbage, cursor.slice(1), cursor.slice(0, -1), 'A'.repeat(100_000)]) {
        using again = await Tap.open(fixture.log, 'ann', after);
        const ready = await again.next();
        // It is never given back: a resume from here is a resync again.
        expect(ready.cursor).toMatch(/^[\w-]{20,99}$/);
        using later = await Tap.open(fixture.log, 'ann', ready.cursor);
        expect(
          [label(ready), ...(await again.labels(1)), ...(await later.labels(2))],
          JSON.stringify(after.slice(0, 99)),
        ).toEqual([...['ready', 'resync invalid-cursor'], ...['ready', 'resync invalid-cursor']]);
      }
    });
  });
}
