import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFolder } from '../../../src/lib/own-file.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-make-folder-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('creates parent folders, also concurrently, and keeps an existing one', async () => {
  const path = join(folder, 'a', 'b', 'c');
  await Promise.all(Array.from({ length: 10 }, () => makeFolder(path)));
  await makeFolder(path);
  expect((await stat(path)).isDirectory()).toBe(true);
});

test('reports which folder cannot be created, and why', async () => {
  await writeFile(join(folder, 'file'), '');
  await expect(makeFolder(join(folder, 'file'))).rejects.toThrow('EEXIST');
  await expect(makeFolder(join(folder, 'file', 'under', 'it'))).rejects.toThrow(/E(?:EXIST|NOTDIR)/);
});

test.skipIf(process.platform !== 'linux')(
  'reports a file system in which no folder can be created',
  async () => {
    await expect(makeFolder('/proc/fanfare/data')).rejects.toThrow(
      "ENOENT: no such file or directory, mkdir '/proc/fanfare'",
    );
  },
);
