import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lockWhenFree, tryLock } from '../../src/process/file-lock.ts';
import { runFixture, testFolder } from '../integration/support.ts';

test('gives the lock to one process at a time and names it to the others', async () => {
  await using folder = testFolder();
  const path = join(folder.path, 'deep', 'lock');
  const first = tryLock(path);
  if (!('lock' in first)) throw new Error('Not locked');
  expect(tryLock(path)).toMatchObject({ holder: { pid: process.pid } });
  first.lock[Symbol.dispose]();
  expect(existsSync(path)).toBe(false);
  expect(tryLock(path)).toHaveProperty('lock');
});

test('a late release does not take the lock from the next owner', async () => {
  await using folder = testFolder();
  const path = join(folder.path, 'lock');
  const first = tryLock(path);
  if (!('lock' in first)) throw new Error('Not locked');
  first.lock[Symbol.dispose]();
  const second = tryLock(path);
  first.lock[Symbol.dispose]();
  expect(second).toHaveProperty('lock');
  expect(existsSync(path)).toBe(true);
});

test('takes over from a dead process, also if its process id was reused', async () => {
  await using folder = testFolder();
  const path = join(folder.path, 'lock');
  writeFileSync(path, JSON.stringify({ pid: process.pid, started: 'another life', token: 'old' }));
  expect(tryLock(path)).toHaveProperty('lock');
  expect(readFileSync(path, 'utf8')).not.toContain('another life');
});

test('waits for a take-over by another process', async () => {
  await using folder = testFolder();
  const path = join(folder.path, 'lock');
  writeFileSync(path, JSON.stringify({ pid: process.pid, started: 'another life', token: 'old' }));
  mkdirSync(`${path}.takeover`);
  expect(tryLock(path)).toEqual({ holder: null });
});

test('a lock is free again after its owner was killed', async () => {
  await using folder = testFolder();
  const path = join(folder.path, 'lock');
  await using holder = runFixture('locker', [path, join(folder.path, 'proof'), '1000000']);
  await holder.said('up');
  holder.kill('SIGKILL');
  await holder.ended;
  using lock = await lockWhenFree(path, () => undefined);
  expect(lock.path).toBe(path);
});

test('several processes never own it together, though they all take over from a dead owner', async () => {
  await using folder = testFolder();
  const path = join(folder.path, 'lock');
  writeFileSync(path, JSON.stringify({ pid: 1, started: 'another life', token: 'old' }));
  const args = [path, join(folder.path, 'proof'), '50'];
  await using one = runFixture('locker', args);
  await using two = runFixture('locker', args);
  await using three = runFixture('locker', args);
  for (const locker of [one, two, three]) expect(await locker.said('taken')).toEqual({ taken: 50 });
});
