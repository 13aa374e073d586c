import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { SETTINGS } from '../../src/config/settings.ts';
import { MAIN, runCli, startCommand } from '../support/run-cli.ts';

const THIS_FILE = import.meta.filename;

let dataDir = '';
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'fanfare-cli-'));
});
afterAll(() => rm(dataDir, { recursive: true }));

describe('fanfare', () => {
  it('prints its help', async () => {
    const { code, stdout, stderr } = await runCli(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Usage: fanfare [options] [command]');
    expect(stdout).toContain('npx fanfare demo');
  });

  it.each([
    [['dance'], "error: unknown command 'dance'"],
    [['import'], 'Nothing to import'],
    [['import', '--actions', '/nothing/here'], '--actions /nothing/here cannot be read'],
    [['import', '--actions', '/'], '--actions / is a folder'],
    [['import', '--url', 'localhost', '--actions', THIS_FILE], '--url got "localhost"'],
    [['doctor', '--markdown'], '--markdown requires --settings'],
    [['demo', '--interval', 'often'], '--interval got "often"'],
    [['demo', '--interval', '0s'], '--interval got "0s", expected a duration from 1ms to 1d'],
    [['demo', '--interval', '25d'], '--interval got "25d", expected a duration from 1ms to 1d'],
    [['demo', '--trace', '0s'], '--trace got "0s", expected a duration from 1ms to 1d'],
  ])('rejects %j and says why', async (args, message) => {
    const { code, stdout, stderr } = await runCli(args, { DATA_DIR: dataDir });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });

  it.each(['serve', 'token --sub u', 'doctor'])(
    'reports every fault of the configuration before %s does anything',
    async (command) => {
      const { code, stdout, stderr } = await runCli(command.split(' '), {
        DATA_DIR: dataDir,
        PORT: 'x',
        JWT_SECRET: 'hunter2',
        FEED_MODEL: 'itmes',
        MONGODB_URI: 'postgres://bob:hunter2@db',
      });
      expect(code).toBe(1);
      for (const name of ['PORT', 'JWT_SECRET', 'FEED_MODEL', 'MONGODB_URI'])
        expect(stdout + stderr).toMatch(new RegExp(`^(FAIL)? +.*${name}: got |^ +${name}: got `, 'm'));
      expect(stdout + stderr).not.toContain('hunter2');
      expect(await readdir(dataDir)).toEqual([]);
    },
  );

  it('does not import from a pipe, which could not be read again', async () => {
    const pipe = join(dataDir, 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    const { code, stderr } = await runCli(['import', '--actions', pipe], { DATA_DIR: dataDir });
    await rm(pipe);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `--actions ${pipe} is a pipe: write its lines to a file, and import that\n`,
    });
  });

  it.skipIf(process.platform !== 'linux')(
    'fails once, with a message, if its output is on a full disk',
    async () => {
      const doctor = ['-c', 'exec "$@" > /dev/full', 'sh', process.execPath, MAIN, 'doctor', '--settings'];
      await using cli = startCommand('sh', doctor, { env: {} });
      const { code, stderr } = await cli.result;
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: 'The output cannot be written: ENOSPC: no space left on device, write\n',
      });
    },
  );

  it('says of a secret whether it exists already', async () => {
    const elsewhere = { MONGODB_URI: inject('mongodbUri'), REDIS_URL: inject('redisUrl') };
    const env = { ...elsewhere, DATA_DIR: join(dataDir, 'secret') };
    const before = await runCli(['doctor'], env);
    expect(before.stdout).toMatch(
      /^note +Identity .* the first start of a server stores a generated one in /m,
    );
    await runCli(['token', '--sub', 'u'], env);
    const after = await runCli(['doctor'], env);
    expect(after.stdout).toMatch(/^note +Identity .* using the secret stored in /m);
    await writeFile(join(env.DATA_DIR, 'jwt-secret'), 'short');
    const damaged = await runCli(['doctor'], env);
    expect(damaged.stdout).toMatch(/^FAIL +Identity .* is shorter than 32 bytes/m);
    await rm(env.DATA_DIR, { recursive: true });
  });

  it('lists its settings', async () => {
    const { code, stdout } = await runCli(['doctor', '--settings'], { PORT: '8080', JWT_SECRET: 'hunter2' });
    expect(code).toBe(0);
    for (const name of Object.keys(SETTINGS)) expect(stdout).toMatch(new RegExp(`^ {2}${name} +\\S`, 'm'));
    expect(stdout).toContain('is 8080');
    expect(stdout).not.toContain('hunter2');
  });
});
