import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withHostConfig } from '../../src/cli/host-config-file.ts';
import { init } from '../../parts/operators/src/init.ts';
import { descriptorOfInput, descriptorTypes } from '../../src/descriptors/registry.ts';
import { commandContext } from '../support/command-context.ts';
import { recordingTerminal } from '../support/recording-terminal.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-init-'));
});
afterEach(() => rm(folder, { recursive: true }));

function context() {
  const { terminal, ...said } = recordingTerminal();
  return { ...commandContext({ env: {}, terminal }), ...said };
}

test('creates a project with a valid configuration and a start script that runs the server', async () => {
  const { stdout, ...rest } = context();
  await init(rest, join(folder, 'feed'));
  expect(stdout.join('\n')).toContain('\n  npm install\n  npm start\n');
  const made = join(folder, 'feed');
  expect((await readdir(made)).sort()).toEqual(
    [
      ...['.env', '.gitignore', 'README.md', 'docker-compose.yml', 'example.ts'],
      ...['fanfare.config.ts', 'package.json', 'test', 'tsconfig.json'],
    ].sort(),
  );
  const { scripts, dependencies, devDependencies } = JSON.parse(
    await readFile(join(made, 'package.json'), 'utf8'),
  ) as Record<'scripts' | 'dependencies' | 'devDependencies', Record<string, string>>;
  expect(Object.keys(scripts)).toEqual(['start', 'example', 'schema', 'test', 'types']);
  for (const version of Object.values(devDependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  // Settings of one machine stay on it.
  expect((await readFile(join(made, '.gitignore'), 'utf8')).split('\n')).toContain('.env');
  // These tests run in a checkout, of which no registry has the version.
  const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');
  expect(dependencies).toEqual({
    '@fanfare/server': `file:${checkout}`,
    '@fanfare/local-engine': `file:${join(checkout, 'packages', 'local-engine')}`,
  });
  await withHostConfig(rest, join(made, 'fanfare.config.ts'));
  expect(descriptorTypes().map(({ type }) => type)).toEqual(['Custom', 'TaskFinished']);
  // The owner replaces the types; the one that every configuration has stays, and the example uses that.
  const example = await readFile(join(made, 'example.ts'), 'utf8');
  const [, inputName = ''] = /descriptor: \{\s*(\w+):/.exec(example) ?? [];
  expect(descriptorOfInput(inputName)?.type).toBe('Custom');
});

test('does not touch a folder that is not empty', async () => {
  const { stdout: _stdout, ...rest } = context();
  await init(rest, folder);
  await expect(init(rest, folder)).rejects.toThrow(`${folder} is not empty: it contains .env`);
});

test('reports which folder it cannot create if a file has that name', async () => {
  const { stdout: _stdout, ...rest } = context();
  const taken = join(folder, 'notes.txt');
  await writeFile(taken, '');
  await expect(init(rest, taken)).rejects.toThrow(`${taken} cannot be created: EEXIST`);
});

test('treats a folder that contains only dot files as empty', async () => {
  const { stdout: _stdout, ...rest } = context();
  await mkdir(join(folder, '.git'));
  await init(rest, folder);
  expect(await readdir(folder)).toContain('package.json');
  expect(await readdir(folder)).toContain('.git');
});
