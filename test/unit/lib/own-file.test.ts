import { once } from 'node:events';
import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NewFile, readOwnFile } from '../../../src/lib/own-file.ts';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-own-file-'));
  path = join(folder, 'name');
});
afterEach(() => rm(folder, { recursive: true }));

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const hasModes = process.platform !== 'win32';

describe('a new file', () => {
  test('gets its name when it is complete, readable only by its owner', async () => {
    const file = new NewFile(path);
    file.open().end('all of it');
    await expect.poll(() => readFile(file.draft, 'utf8').catch(() => null)).toBe('all of it');
    expect(await readdir(folder)).not.toContain('name');
    await file.complete();
    await file.discard();
    expect(await readFile(path, 'utf8')).toBe('all of it');
    if (hasModes) expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('leaves nothing when it is discarded', async () => {
    const file = new NewFile(path);
    await file.write('half of');
    await file.discard();
    expect(await readdir(folder)).toEqual([]);
  });

  test('never writes through a link or into an existing file', async () => {
    const elsewhere = join(folder, 'elsewhere');
    await writeFile(elsewhere, 'theirs');
    await symlink(elsewhere, path);
    const file = new NewFile(path);
    expect(new NewFile(path).draft).not.toBe(file.draft);
    // As if they had guessed it.
    await symlink(elsewhere, file.draft);
    await expect(file.write('ours')).rejects.toThrow('EEXIST');
    const [error] = (await once(file.open(), 'error')) as [Error];
    expect(error.message).toContain('EEXIST');
    await file.discard();

    await file.write('ours');
    await file.complete();
    expect([await readFile(path, 'utf8'), await readFile(elsewhere, 'utf8')]).toEqual(['ours', 'theirs']);
  });
});

describe('a trusted file', () => {
  test('is read, or does not exist', async () => {
    expect(await readOwnFile(path)).toBeNull();
    await writeFile(path, 'mine');
    expect(await readOwnFile(path)).toBe('mine');
  });

  test.skipIf(!hasModes)('is rejected if others may write it', async () => {
    await writeFile(path, 'anyone’s');
    for (const mode of [0o620, 0o602, 0o666]) {
      await chmod(path, mode);
      await expect(readOwnFile(path)).rejects.toThrow(
        `${path} can be written by other users (mode ${mode.toString(8)}). It must be a file of the user`,
      );
    }
  });

  test('is rejected if it is a link or a folder', async () => {
    const target = join(folder, 'target');
    await writeFile(target, 'known');
    await symlink(target, path);
    await expect(readOwnFile(path)).rejects.toThrow(`${path} is a link`);
    await expect(readOwnFile(folder)).rejects.toThrow(`${folder} is not a file`);
  });

  test.skipIf(!isRoot)('is rejected if it belongs to another user', async () => {
    await writeFile(path, 'theirs', { mode: 0o600 });
    await chown(path, NOBODY, NOBODY);
    await expect(readOwnFile(path)).rejects.toThrow(`${path} belongs to user ${String(NOBODY)}`);
  });
});
