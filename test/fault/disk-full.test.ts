import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, rmdirSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFailed, test } from 'vitest';
import {
  ALL_FINE,
  readiness,
  startAppOnLocalEngine,
  tryEverything,
  type AppOnLocalEngine,
} from '../support/local-engine.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const WITHIN = { timeout: PATIENCE_MS, interval: 250 };

/** A file system of its own, or the reason why there is none. */
function mountSmallDisk(): (Disposable & { readonly path: string }) | string {
  const path = mkdtempSync(join(tmpdir(), 'fanfare-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'tmpfs', path], { stdio: 'pipe' });
  } catch (error) {
    rmdirSync(path);
    return `no tmpfs may be mounted here: ${String(error)}`;
  }
  return {
    path,
    [Symbol.dispose]() {
      execFileSync('umount', ['--lazy', path]);
      rmdirSync(path);
    },
  };
}

/** Takes all room but `leave` bytes. */
function fill(disk: string, leave: number): void {
  const file = openSync(join(disk, 'filler'), 'a');
  const block = Buffer.alloc(256 * 1024);
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(disk);
      const room = bavail * bsize - leave;
      if (room <= 0) return;
      writeSync(file, block, 0, Math.min(room, block.length));
    }
  } finally {
    closeSync(file);
  }
}

/** Writes until all of the room that is left is gone; gives the codes that clients got. */
async function codesUntilNotReady({ app }: AppOnLocalEngine): Promise<string[]> {
  const codes = new Set<string>();
  const text = () => Array.from({ length: 100 }, () => crypto.randomUUID()).join(' ');
  await expect
    .poll(async () => {
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => tryEverything(app, text())));
      for (const outcome of outcomes.flatMap((each) => Object.values(each))) codes.add(outcome);
      return (await readiness(app)).status;
    }, WITHIN)
    .toBe(503);
  return [...codes];
}

/** The database dies, if it has not already, and is tried again at least once while there is no room. */
async function killDatabase(pid: number, events: AppOnLocalEngine['events']): Promise<void> {
  const before = ends(events);
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
  await expect.poll(() => ends(events), WITHIN).toBeGreaterThan(before + 1);
}

function ends(events: AppOnLocalEngine['events']): number {
  return events.filter(({ message }) => message.includes('has ended unexpectedly')).length;
}

function databasePid({ services, pidOf }: AppOnLocalEngine): number {
  const name = services.find((service) => service === 'postgres' || service === 'mongod') ?? 'none';
  const pid = pidOf(name);
  if (pid === undefined) throw new Error(`The database is not among ${services.join(', ')}`);
  return pid;
}

test('a full disk means unavailable and not ready, until there is space again', async ({ skip }) => {
  const mounted = mountSmallDisk();
  if (typeof mounted === 'string') return skip(mounted);
  using disk = mounted;
  await using world = await startAppOnLocalEngine(disk.path);
  const { app } = world;
  onTestFailed(() => {
    console.error('The local services reported:', world.events);
  });
  expect(await tryEverything(app)).toEqual(ALL_FINE);
  for (const time of ['first', 'second']) {
    const pid = databasePid(world);
    fill(disk.path, 1024 * 1024);
    const codes = await codesUntilNotReady(world);
    for (const _round of [1, 2, 3]) codes.push(...Object.values(await tryEverything(app, 'x'.repeat(2_000))));
    expect(codes).toContain('UNAVAILABLE');
    expect(codes.filter((code) => code !== 'ok' && code !== 'UNAVAILABLE')).toEqual([]);
    if (time === 'second') await killDatabase(pid, world.events);
    rmSync(join(disk.path, 'filler'));
    await expect
      .poll(async () => [await tryEverything(app), (await readiness(app)).status], WITHIN)
      .toEqual([ALL_FINE, 200]);
  }
});
