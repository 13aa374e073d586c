import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';
import { KeptProcess, type RestartPace } from '../../src/kept-process.ts';

const PACE: RestartPace = {
  ...{ firstPauseMs: 1, longestPauseMs: 8, mostRestarts: 5 },
  ...{ steadyMs: 600_000, logEveryMs: 600_000 },
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fanfare-kept-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Kept {
  readonly kept: KeptProcess;
  /** What its keeper has heard, in order. */
  readonly heard: string[];
  readonly pauses: number[];
}

/** A program that runs the script and ends. */
function keep(
  script: string,
  pace: Partial<RestartPace> = {},
  onDown: (times: number) => void = () => undefined,
): Kept {
  const heard: string[] = [];
  const pauses: number[] = [];
  const command = join(folder, 'program');
  symlinkSync(process.execPath, command);
  const kept = new KeptProcess(
    {
      ...{ name: 'program', command, args: ['-e', script, command], cwd: folder, env: {} },
      ...{ log: join(folder, 'log'), stdout: 'log', stopBy: 'SIGTERM', stopWithinMs: 60_000 },
    },
    {
      started: () => heard.push('started'),
      line: () => undefined,
      down({ code }, pauseMs) {
        heard.push(`down with ${String(code)}`);
        pauses.push(pauseMs);
        onDown(pauses.length);
      },
      restarted: () => heard.push('restarted'),
      failed: (reason) => heard.push(`failed: ${String(reason)}`),
      exited: ({ code }) => heard.push(`exited with ${String(code)}`),
      refused: (reason) => heard.push(`refused: ${reason}`),
    },
    { ...PACE, ...pace },
  );
  return { kept, heard, pauses };
}

it('restarts a process that exits at once after growing pauses, and gives up at a limit', async () => {
  const { kept, heard, pauses } = keep('process.exitCode = 3');
  kept.start();
  kept.keepRunning();
  await kept.over;
  expect(pauses).toEqual([1, 2, 4, 8, 8]);
  const again = pauses.flatMap(() => ['down with 3', 'restarted']);
  expect(heard).toEqual(['started', ...again, 'exited with 3']);
  expect(kept.service).toBeNull();
});

it('starts with the shortest pause and a count of zero after a long run', async () => {
  const stopAfter = 2 * PACE.mostRestarts;
  let stopped: Promise<void> | undefined;
  // So short that every run lasts longer.
  const { kept, heard, pauses } = keep('', { steadyMs: 0 }, (times) => {
    // The pause begins after this report.
    if (times === stopAfter)
      queueMicrotask(() => {
        stopped = kept.stop();
      });
  });
  kept.start();
  kept.keepRunning();
  await kept.over;
  await stopped;
  expect(pauses).toEqual(Array.from({ length: stopAfter }, () => 1));
  expect(heard.filter((report) => report === 'restarted')).toHaveLength(stopAfter - 1);
  expect(heard.at(-1)).toBe('exited with null');
});

it('counts a process that can no longer be started as an exit, and says why', async () => {
  const { kept, heard, pauses } = keep('require("node:fs").rmSync(process.argv[1])');
  kept.start();
  kept.keepRunning();
  await kept.over;
  expect(pauses).toEqual([1, 2, 4, 8, 8]);
  const failed = `failed: spawn ${kept.spec.command} ENOENT`;
  const again = Array.from({ length: 4 }, () => [failed, 'down with null']).flat();
  expect(heard).toEqual(['started', 'down with 0', ...again, failed, 'exited with null']);
});

it('does not restart a process that nobody asked it to keep running', async () => {
  const { kept, heard } = keep('process.exitCode = 3');
  kept.start();
  await kept.over;
  expect(heard).toEqual(['started', 'exited with 3']);
});

it('empties a long log while its writer continues, and keeps its contents once', async () => {
  const { kept } = keep("process.stdout.write('x'.repeat(11e6)); setInterval(() => console.log('on'), 5)", {
    logEveryMs: 5,
  });
  kept.start();
  const sizes = () =>
    ['log.1', 'log'].map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
  await expect.poll(() => (sizes()[0] ?? 0) > 10e6, { timeout: PATIENCE_MS }).toBe(true);
  await expect.poll(() => sizes()[1] ?? 0, { timeout: PATIENCE_MS }).toBeGreaterThan(0);
  expect(sizes()[1]).toBeLessThan(10e6);
  await kept.stop();
});
