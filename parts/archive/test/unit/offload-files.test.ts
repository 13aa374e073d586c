import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkRestorable, checkTarget } from '../../src/check-files.ts';
import { writeOffloadFile } from '../../src/offload-file.ts';
import { NewFile } from '../../../../src/lib/own-file.ts';
import { latestVersion, MIGRATIONS } from '../../../../src/storage/migrations/migration.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-offload-files-'));
});
afterAll(() => rm(folder, { recursive: true }));

const BEFORE = new Date('2024-03-01T00:00:00Z');
const LATEST = latestVersion(MIGRATIONS);
const LINES = ['{"in":"actions","id":"1"}', '{"in":"bookmarks","of":"1"}', '{"in":"actions","id":"2"}'];

async function newFile({ schema = LATEST, tenants = false } = {}): Promise<string> {
  const path = join(folder, `${crypto.randomUUID()}.ndjson`);
  await writeOffloadFile(
    new NewFile(path),
    { schema, tenants, before: BEFORE, readAt: new Date() },
    (after) => Promise.resolve(after === null ? { lines: Readable.from([LINES]), last: 'last' } : null),
    () => undefined,
  );
  return path;
}

async function changed(path: string, change: (text: string) => string): Promise<string> {
  await writeFile(path, change(await readFile(path, 'utf8')));
  return path;
}

const silent = { hasTenants: false, onProgress: () => undefined };

describe('a file to restore', () => {
  test('is read to its end, with progress', async () => {
    const seen: [number, number][] = [];
    const file = await checkRestorable(await newFile(), {
      hasTenants: false,
      onProgress: (...at) => seen.push(at),
    });
    expect(file).toMatchObject({ actions: 2, header: { schema: LATEST, before: BEFORE } });
    expect(seen.at(-1)).toEqual([1, 2]);
  });

  test.each<[string, () => string | Promise<string>, RegExp]>([
    ['is not there', () => join(folder, 'none.ndjson'), /none\.ndjson cannot be read: ENOENT/],
    ['is a folder', () => folder, /cannot be read: EISDIR/],
    ['is empty', async () => changed(await newFile(), () => ''), /damaged: it is empty/],
    [
      'is another kind of file',
      async () => changed(await newFile(), () => '{"actorId":"ann"}\n'),
      /damaged: it does not start like such a file/,
    ],
    [
      'was cut off',
      async () => changed(await newFile(), (text) => text.slice(0, text.lastIndexOf('{"end":"file"'))),
      /damaged: its end is missing/,
    ],
    [
      'was changed',
      async () => changed(await newFile(), (text) => text.replace('"id":"2"', '"id":"3"')),
      /its checksum is wrong/,
    ],
    [
      'is of a newer release',
      () => newFile({ schema: LATEST + 1 }),
      /cannot be restored\. The file has schema version \d+, .* Another version wrote it/,
    ],
    [
      'has tenants where there are none',
      () => newFile({ tenants: true }),
      /cannot be restored\. The file has actions of tenants, and this database has no tenants/,
    ],
  ])('is rejected if it %s', async (_what, path, message) => {
    await expect(checkRestorable(await path(), silent)).rejects.toThrow(message);
  });
});

describe('the target file of an offload', () => {
  test('may be new, or that of the same offload', async () => {
    await checkTarget(join(folder, 'new.ndjson'), BEFORE, silent);
    await checkTarget(await newFile(), BEFORE, silent);
    expect(await readdir(folder)).not.toContain('new.ndjson');
  });

  test.each<[string, () => string | Promise<string>, RegExp]>([
    ['lies in no folder', () => join(folder, 'none', 'new.ndjson'), /new\.ndjson cannot be written: ENOENT/],
    [
      'has what is older than another day',
      () => newFile(),
      /already exists, from an offload before 2024-03-01/,
    ],
    ['is another file', async () => changed(await newFile(), () => 'mine\n'), /it does not start like such/],
    ['is of a newer release', () => newFile({ schema: LATEST + 1 }), /already exists\. The file has schema/],
  ])('is rejected if it %s', async (what, path, message) => {
    const before = what.startsWith('has') ? new Date('2024-04-01T00:00:00Z') : BEFORE;
    await expect(checkTarget(await path(), before, silent)).rejects.toThrow(message);
  });
});
