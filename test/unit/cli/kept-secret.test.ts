import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withSecret } from '../../../src/cli/kept-secret.ts';
import { readConfig } from '../../../src/config/read-config.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-secret-'));
});
afterEach(() => rm(folder, { recursive: true }));

function config(env: Record<string, string> = {}) {
  return readConfig({ DATA_DIR: join(folder, 'data'), ...env }, { feedModels: ['items'], settings: [] });
}

describe('withSecret', () => {
  it('generates a secret once and stores it so that only its owner can read it', async () => {
    const first = await withSecret(config());
    const second = await withSecret(config());
    expect(first.keptIn).toBe(join(folder, 'data', 'jwt-secret'));
    expect(first.config.auth.jwtSecret).toMatch(/^[\w-]{43}$/);
    expect(second.config.auth.jwtSecret).toBe(first.config.auth.jwtSecret);
    expect((await stat(first.keptIn ?? '')).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'data'))).toEqual(['jwt-secret']);
  });

  it('gives the same secret to concurrent callers', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => withSecret(config())));
    expect(new Set(all.map((source) => source.config.auth.jwtSecret)).size).toBe(1);
    expect(await readFile(all[0]?.keptIn ?? '', 'utf8')).toBe(all[0]?.config.auth.jwtSecret);
  });

  it('generates none if the environment has a key', async () => {
    const given = await withSecret(config({ JWT_SECRET: 'x'.repeat(32) }));
    expect(given).toMatchObject({ keptIn: null, config: { auth: { jwtSecret: 'x'.repeat(32) } } });
    expect(
      (await withSecret(config({ JWKS_URI: 'https://id.example/' }))).config.auth.jwtSecret,
    ).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
  });

  it.skipIf(process.platform !== 'linux')('reports why its folder cannot be created', async () => {
    const nowhere = config({ DATA_DIR: '/proc/fanfare/data' });
    await expect(withSecret(nowhere)).rejects.toThrow("mkdir '/proc/fanfare'");
  });

  it('rejects a stored secret that is too short', async () => {
    const { keptIn } = await withSecret(config());
    await writeFile(keptIn ?? '', 'short');
    await expect(withSecret(config())).rejects.toThrow('shorter than 32 bytes');
  });
});
