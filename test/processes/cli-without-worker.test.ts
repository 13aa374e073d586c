import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/engine.ts';
import { runCli, startCli } from '../support/run-cli.ts';

let database: TestDatabase;
let folder = '';
let env: Record<string, string> = {};
beforeAll(async () => {
  database = await testDatabase();
  folder = await mkdtemp(join(tmpdir(), 'fanfare-no-worker-'));
  env = {
    MONGODB_URI: database.uri,
    MONGODB_DB: database.name,
    REDIS_URL: inject('redisUrl'),
    DATA_DIR: join(folder, 'data'),
    EVENT_RETENTION: 'off',
  };
  const actions = Array.from({ length: 3 }, (_, n) => ({
    ...{ actorId: 'bob', conducted: new Date(Date.UTC(2024, 0, n + 1)).toISOString(), scope: 'PUBLIC' },
    descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
  }));
  await writeFile(join(folder, 'actions.ndjson'), actions.map((action) => JSON.stringify(action)).join('\n'));
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const offload = (before: string, ...more: string[]): string[] => [
  ...['offload', '--before', before, '--to', join(folder, 'old.ndjson'), '--no-worker'],
  ...more,
];
const NONE_RUNS = /No worker is running on this database, so nothing happens: start one/;

describe('without any worker', () => {
  it('an import that waits for the feeds reports it, and ends after a while', async () => {
    const args = ['import', '--actions', join(folder, 'actions.ndjson'), '--no-worker', '--wait'];
    const { code, stdout, stderr } = await runCli([...args, '--wait-for-worker', '1s'], env);
    expect(code).toBe(1);
    expect(stdout).toContain('3 written');
    expect(stderr).toMatch(NONE_RUNS);
    expect(stderr).toContain(
      'No worker started within 1 s. Everything is imported; the next worker delivers the rest.',
    );
  });

  it('an offload reports it and ends, and has changed nothing', async () => {
    const { code, stderr } = await runCli(offload('2024-06-01', '--wait-for-worker', '1s'), env);
    expect(code).toBe(1);
    expect(stderr).toMatch(NONE_RUNS);
    expect(stderr).toContain('Without --no-worker this command runs one itself.');
    expect(stderr).toContain('No worker started within 1 s. Run the same command again');
    expect(await readdir(folder)).not.toContain('old.ndjson');
    expect(await database.db.collection('actions').countDocuments({ offload: { $exists: true } })).toBe(0);
  });

  it('an offload continues once a worker runs', async () => {
    await using waiting = startCli(offload('2023-01-01', '--wait-for-worker', 'off'), env);
    await waiting.stderrHas(NONE_RUNS);
    await using worker = startCli(['worker'], env);
    await waiting.stderrHas(/A worker is running now\./);
    const { code, stdout } = await waiting.result;
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('Nothing is older than 2023-01-01') as string,
    });
    worker.signal('SIGTERM');
    expect((await worker.result).code).toBe(0);
  });
});

it('an unusable file is rejected before a database is started', async () => {
  const local = { DATA_DIR: join(folder, 'local') };
  const file = join(folder, 'actions.ndjson');
  const refused = [
    await runCli(['restore', file], local),
    await runCli(['restore', join(folder, 'none.ndjson')], local),
    await runCli(['offload', '--before', '2024-06-01', '--to', file], local),
    await runCli(['offload', '--before', '2024-06-01', '--to', join(folder, 'none', 'old.ndjson')], local),
  ];
  expect(refused.map(({ code }) => code)).toEqual([1, 1, 1, 1]);
  expect(refused.map(({ stderr }) => stderr)).toEqual([
    expect.stringContaining('is not a file of offload'),
    expect.stringContaining('none.ndjson cannot be read'),
    expect.stringContaining('is not a file of offload'),
    expect.stringContaining('old.ndjson cannot be written'),
  ]);
  expect(await readdir(folder)).not.toContain('local');
});
