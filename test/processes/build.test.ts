import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { copyProject, PROJECT, type ProjectCopy } from '../support/project-copy.ts';
import { startCommand } from '../support/run-cli.ts';

const run = promisify(execFile);

const WHOLE = [
  ...['package.json', 'bin', 'console', 'packages', 'parts', 'scripts', 'src'],
  ...['tsconfig.json', 'tsconfig.build.json'],
];

/** A checkout whose sources and build say which they are. */
async function checkout(parts: { src?: boolean; dist?: boolean; part?: boolean }): Promise<ProjectCopy> {
  const copy = await copyProject(['package.json', 'tsconfig.json', 'bin']);
  const write = async (folder: string, file: string, text: string) => {
    await mkdir(join(copy.path, folder), { recursive: true });
    await writeFile(join(copy.path, folder, file), `console.log('${text}');`);
  };
  if (parts.src !== false) await write('src', 'main.ts', 'the sources');
  if (parts.dist !== false) await write('dist/src', 'main.js', 'the build');
  if (parts.part === true) await write('parts/some/src', 'part.ts', 'a part');
  return copy;
}

function launch({ path }: ProjectCopy) {
  return run(process.execPath, ['bin/fanfare.js'], { cwd: path });
}

describe('bin/fanfare.js', () => {
  it('runs the build', async () => {
    await using copy = await checkout({});
    expect(await launch(copy)).toEqual({ stdout: 'the build\n', stderr: '' });
  });

  it('runs the build without sources', async () => {
    await using copy = await checkout({ src: false });
    expect(await launch(copy)).toEqual({ stdout: 'the build\n', stderr: '' });
  });

  it('runs the sources if they are newer than the build, and reports that', async () => {
    await using copy = await checkout({});
    await utimes(join(copy.path, 'dist/src/main.js'), 1, 1);
    const { stdout, stderr } = await launch(copy);
    expect(stdout).toBe('the sources\n');
    expect(stderr).toContain('The build is older than the sources');
  });

  it('counts the parts of the server among the sources', async () => {
    await using copy = await checkout({ part: true });
    const future = Date.now() / 1_000 + 60;
    await utimes(join(copy.path, 'parts/some/src/part.ts'), future, future);
    expect((await launch(copy)).stdout).toBe('the sources\n');
  });

  it('says what to do if there is neither a build nor a loader', async () => {
    await using copy = await checkout({ dist: false });
    await rm(join(copy.path, 'node_modules'));
    await expect(launch(copy)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Run npm ci'),
    });
  });
});

describe('npm ci', () => {
  it('builds what npm start runs, without output', async () => {
    await using copy = await copyProject(WHOLE);
    expect(await run('npm', ['run', '--silent', 'prepare'], { cwd: copy.path })).toEqual({
      stdout: '',
      stderr: expect.not.stringMatching(/error|tsc/i),
    });
    expect(await readdir(join(copy.path, 'packages/client/dist'))).toEqual(
      expect.arrayContaining(['index.js', 'index.d.ts']),
    );
    expect(await readdir(join(copy.path, 'console/dist'))).toContain('index.html');
    // npx prepares it too, also while a server runs from it.
    const builtAt = async () => (await stat(join(copy.path, 'dist/src/main.js'))).mtimeMs;
    const before = await builtAt();
    await run(process.execPath, ['scripts/build.js', '--fast'], { cwd: copy.path });
    expect(await builtAt()).toBe(before);
    const { stdout, stderr } = await run(process.execPath, ['bin/fanfare.js', '--help'], { cwd: copy.path });
    expect(stdout).toContain('Usage: fanfare');
    expect(stderr).toBe('');
    // The child processes of the local engines are found beside it.
    for (const entry of ['keeper.js', 'gateway/main.js'])
      expect(await readdir(join(copy.path, 'packages/local-engine/dist'), { recursive: true })).toContain(
        entry,
      );
  });

  it('does not fail without the development packages', async () => {
    await using copy = await copyProject(WHOLE);
    await rm(join(copy.path, 'node_modules'));
    await run(process.execPath, ['scripts/build.js', '--fast'], { cwd: copy.path });
    await expect(run(process.execPath, ['scripts/build.js'], { cwd: copy.path })).rejects.toMatchObject({
      stderr: expect.stringContaining('Cannot build'),
    });
  });
});

describe('npm run dev', () => {
  it('runs the sources, and restarts when they change', async () => {
    await using copy = await checkout({});
    const { scripts } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const [tsx = '', ...args] = scripts['dev']?.split(' ') ?? [];
    await using dev = startCommand(join(PROJECT, 'node_modules/.bin', tsx), args, {
      cwd: copy.path,
      env: {},
    });
    await dev.stdoutHas(/the sources/);
    await writeFile(join(copy.path, 'src/main.ts'), "console.log('the change');");
    await dev.stdoutHas(/the change/);
    dev.signal('SIGTERM');
    await dev.result;
  });
});
