import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { statSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openHost } from '../../src/host.ts';
import { openOwnLog, ownFolder, readOwnFile, writeOwnFile } from '../../src/process/own-file.ts';

let folder = '';
let path = '';
let elsewhere = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fanfare-own-file-'));
  [path, elsewhere] = [join(folder, 'name'), join(folder, 'elsewhere')];
  writeFileSync(elsewhere, 'theirs');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

test('a file replaces a link instead of following it, is readable only by its owner, and leaves no draft', () => {
  symlinkSync(elsewhere, path);
  writeOwnFile(path, 'ours');
  expect([readOwnFile(path), readFileSync(elsewhere, 'utf8')]).toEqual(['ours', 'theirs']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['elsewhere', 'name']);
});

test('a file that others may write is neither read nor written', () => {
  expect(readOwnFile(path)).toBeNull();
  symlinkSync(elsewhere, path);
  expect(() => readOwnFile(path)).toThrow(`${path} is a link`);
  expect(() => openOwnLog(path)).toThrow(`${path} is a link`);
  chmodSync(elsewhere, 0o620);
  expect(() => readOwnFile(elsewhere)).toThrow('can be written by other users (mode 620)');
  expect(() => openOwnLog(elsewhere)).toThrow('can be written by other users (mode 620)');
  expect(readFileSync(elsewhere, 'utf8')).toBe('theirs');
});

test.skipIf(!isRoot)('another user’s file is rejected, and root can write one for another user', () => {
  writeOwnFile(path, 'for them', NOBODY);
  chownSync(elsewhere, NOBODY, NOBODY);
  for (const theirs of [path, elsewhere])
    expect(() => readOwnFile(theirs)).toThrow(`${theirs} belongs to user ${String(NOBODY)}`);
  expect(statSync(path)).toMatchObject({ uid: NOBODY, gid: NOBODY });
});

test('a folder gets a mode itself, and nothing that a link leads to does', () => {
  const there = join(folder, 'there');
  mkdirSync(there, { mode: 0o755 });
  symlinkSync(there, path);
  expect(() => ownFolder(path, 0o700)).toThrow(`${path} is a link`);
  expect(() => ownFolder(elsewhere, 0o700)).toThrow(`${elsewhere} is not a folder`);
  expect(statSync(there).mode & 0o777).toBe(0o755);
  ownFolder(there, 0o700);
  expect(statSync(there).mode & 0o777).toBe(0o700);
});

test('a log is appended to', () => {
  for (const line of ['one\n', 'two\n']) {
    const log = openOwnLog(path);
    writeSync(log, line);
    closeSync(log);
  }
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
});

test.each(['keeper.log', 'running-services.json', 'processes.json'])(
  'a host rejects a folder where %s leads elsewhere',
  async (name) => {
    const dataDir = join(folder, 'data');
    await using host = await openHost({ dataDir, cacheDir: folder, durability: 'fast' });
    await host[Symbol.asyncDispose]();
    rmSync(join(dataDir, name), { force: true });
    symlinkSync(elsewhere, join(dataDir, name));
    await expect(openHost({ dataDir, cacheDir: folder, durability: 'fast' })).rejects.toThrow(
      `${join(dataDir, name)} is a link`,
    );
    expect(readFileSync(elsewhere, 'utf8')).toBe('theirs');
  },
);
