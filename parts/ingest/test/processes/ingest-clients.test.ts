import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { actionLine, numbered } from '../../../../test/support/ingest.ts';
import { PROJECT } from '../../../../test/support/project-copy.ts';

const run = promisify(execFile);
const COUNT = 10_500;

let app: TestApp;
let folder = '';
let token = '';
beforeAll(async () => {
  app = await startTestApp({ worker: false, env: { INGEST: 'on' } });
  token = await app.token('importer', ['service']);
  folder = await mkdtemp(join(tmpdir(), 'fanfare-ingest-'));
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** More lines than are sent in one request, one of them bad. */
async function fileOf(prefix: string, count = COUNT): Promise<string> {
  const path = join(folder, `${prefix}.ndjson`);
  const lines = numbered(count, prefix).map((key, n) => (n === 7 ? 'not json' : actionLine(key)));
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

const recordedOf = (prefix: string): Promise<number> =>
  app.app.database.collections.actions.countDocuments({ 'descriptor.objectId': { $regex: `^${prefix}\\d` } });

const isHere = (program: string, option: string): boolean => spawnSync(program, [option]).status === 0;

const LANGUAGES = [
  { name: 'python', program: 'python3', option: '--version', args: [], file: 'client.py' },
  { name: 'go', program: 'go', option: 'version', args: ['run'], file: 'client.go' },
  { name: 'ruby', program: 'ruby', option: '--version', args: [], file: 'client.rb' },
  { name: 'php', program: 'php', option: '--version', args: [], file: 'client.php' },
];

describe('the clients that docs/ingest.md shows', () => {
  for (const { name, program, option, args, file } of LANGUAGES) {
    const has = isHere(program, option);
    test.skipIf(!has)(
      `${name}${has ? '' : ` (skipped: there is no ${program} on this machine)`}`,
      async () => {
        const page = await readFile(join(PROJECT, 'docs/ingest.md'), 'utf8');
        const [, code = ''] = new RegExp(`^\`\`\`${name}\\n(.*?)^\`\`\`$`, 'ms').exec(page) ?? [];
        await writeFile(join(folder, file), code);
        const env = {
          ...process.env,
          FANFARE_URL: app.url,
          TOKEN: token,
          GOCACHE: join(folder, 'go'),
          GOFLAGS: '-mod=mod',
        };
        const path = await fileOf(name);
        const { stdout } = await run(program, [...args, join(folder, file), path], { env, cwd: folder });
        expect(
          stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as unknown),
        ).toEqual([{ line: 8, error: 'The line is not JSON', code: 'BAD_USER_INPUT' }]);
        expect(await recordedOf(name)).toBe(COUNT - 1);
        const stopped = { ...env, TOKEN: 'wrong' };
        await expect(
          run(program, [...args, join(folder, file), path], { env: stopped, cwd: folder }),
        ).rejects.toThrow(/Not all lines were answered/);
      },
    );
  }

  test('curl, plain and gzip', async () => {
    const path = await fileOf('curl', 600);
    await writeFile(`${path}.gz`, gzipSync(await readFile(path)));
    // curl -sS -X POST -T actions.ndjson -H "authorization: Bearer $TOKEN" http://127.0.0.1:4000/ingest
    const args = ['-sS', '-X', 'POST', '-H', `authorization: Bearer ${token}`, `${app.url}/ingest`];
    const first = await run('curl', [...args, '-T', path]);
    expect(first.stdout.trim().split('\n')).toHaveLength(600);
    expect((await run('curl', [...args, '-T', `${path}.gz`])).stdout).toBe(first.stdout);
    expect(await recordedOf('curl')).toBe(599);
  });
});
