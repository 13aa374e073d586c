import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/busy.js', import.meta.url));
const WITHIN = { timeout: PATIENCE_MS };

type BusyProcess = ChildProcessByStdio<Writable, Readable, null>;

function runBusy(...args: readonly string[]): BusyProcess {
  const busy = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => {
    busy.stdin.destroy();
    busy.kill('SIGKILL');
  });
  return busy;
}

/** A program that says its process id and waits for the end of its input, which is that of the test. */
const WAITING = ['--', process.execPath, '-e', 'console.log(process.pid); process.stdin.resume()'];

async function firstLine({ stdout }: BusyProcess): Promise<string> {
  const [chunk] = (await once(stdout, 'data')) as [Buffer];
  return chunk.toString().trim();
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** CPU time in clock ticks. */
function ticksOf(pid: number): number {
  const fields =
    readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
      .split(') ')[1]
      ?.split(' ') ?? [];
  return Number(fields[11]);
}

test('ends with the exit code or signal of the command', async () => {
  const busy = runBusy('2', '--', process.execPath, '-e', 'process.exitCode = 3');
  expect(await once(busy, 'exit')).toEqual([3, null]);
});

test.runIf(process.platform === 'linux')('keeps the processor busy while the command runs', async () => {
  const busy = runBusy('1', ...WAITING);
  const pid = busy.pid ?? 0;
  await firstLine(busy);
  const before = ticksOf(pid);
  await expect.poll(() => ticksOf(pid), WITHIN).toBeGreaterThan(before + 20);
  busy.kill('SIGTERM');
  await once(busy, 'exit');
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'ends the command and its loops at %s',
  async (signal) => {
    const busy = runBusy('2', ...WAITING);
    const command = Number(await firstLine(busy));
    busy.kill(signal);
    const [code] = await once(busy, 'exit');
    expect(code).toBe({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal]);
    await expect.poll(() => isRunning(command), WITHIN).toBe(false);
  },
);

test('leaves no loop running when it is killed', async () => {
  const busy = runBusy('2', ...WAITING);
  const command = Number(await firstLine(busy));
  busy.kill('SIGKILL');
  expect(await once(busy, 'exit')).toEqual([null, 'SIGKILL']);
  expect(isRunning(busy.pid ?? 0)).toBe(false);
  // The command has no loops, and ends by its own means.
  busy.stdin.end();
  await expect.poll(() => isRunning(command), WITHIN).toBe(false);
});

test.each(['', '8', 'many -- true', '8 true', '8 --'])(
  'prints its usage when called with "%s"',
  async (words) => {
    const busy = runBusy(...words.split(' ').filter((word) => word !== ''));
    expect(await once(busy, 'exit')).toEqual([2, null]);
  },
);
