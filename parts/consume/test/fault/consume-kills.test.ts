import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../../../test/support/app.ts';
import { actionLine, numbered } from '../../../../test/support/ingest.ts';
import { startCli } from '../../../../test/support/run-cli.ts';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';
import { STREAM_KINDS } from '../../../../test/support/streams.ts';

/** `FANFARE_KILLS=67` kills two processes so many times while 100,500 messages come. */
const KILLS = Number(process.env['FANFARE_KILLS'] ?? 3);
const LINES_OF_A_KILL = 1_500;

describe.each(STREAM_KINDS)('$kind', ({ has, start }) => {
  test.runIf(has)(
    'processes that are killed lose nothing and record nothing twice',
    async () => {
      await using app = await startTestApp({ api: false, worker: false });
      await using stream = await start();
      const lines = KILLS * LINES_OF_A_KILL;
      await stream.add([...numbered(lines).map((key) => actionLine(key)), 'not json']);
      const recorded = (): Promise<number> => app.app.database.collections.actions.countDocuments({});
      const args = ['consume', stream.url, '--no-worker'];
      for (let kill = 0; kill < KILLS; kill += 1) {
        await using other = startCli(args, app.env);
        await other.stderrHas(/Consuming/);
        const before = await recorded();
        await using killed = startCli(args, app.env);
        await expect
          .poll(recorded, { interval: 1 })
          .toBeGreaterThan(Math.min(lines - 1, before + (kill % 30) * 100));
        killed.signal('SIGKILL');
        other.signal('SIGKILL');
        await Promise.all([killed.result, other.result]);
      }
      await using last = startCli(args, app.env);
      // A signal before that would end it at once.
      await last.stderrHas(/Consuming/);
      await expect.poll(() => stream.open('fanfare')).toBe(0);
      last.signal('SIGTERM');
      expect(await last.result).toMatchObject({ code: 0 });
      expect(await recorded()).toBe(lines);
      const keys = await app.app.database.collections.actions.distinct('descriptor.objectId');
      expect(keys).toHaveLength(lines);
      expect(await stream.refused()).toMatchObject([{ line: 'not json', code: 'BAD_USER_INPUT' }]);
    },
    PATIENCE_MS * (4 + KILLS),
  );
});
