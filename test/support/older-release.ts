import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT } from './project-copy.ts';

/** A commit of this repository in a folder of its own, its server built. Disposing removes it. */
export interface OlderRelease extends AsyncDisposable {
  /** The program to run, as `dist/main.js` is of this checkout. */
  readonly main: string;
}

/** Whether this checkout has that commit: a packed or shallow one does not. */
export function hasCommit(commit: string): boolean {
  return spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: PROJECT }).status === 0;
}

/** A clone that was asked for without its history: nobody expects an older release of it. */
export function hasNoHistory(): boolean {
  const { stdout, status } = spawnSync('git', ['rev-parse', '--is-shallow-repository'], {
    cwd: PROJECT,
    encoding: 'utf8',
  });
  return status === 0 && stdout.trim() === 'true';
}

/** Builds it with the packages that are installed here. */
export async function buildCommit(commit: string): Promise<OlderRelease> {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-older-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const archive = join(folder, 'files.tar');
    execFileSync('git', ['archive', '--format=tar', `--output=${archive}`, commit], { cwd: PROJECT });
    execFileSync('tar', ['-xf', archive, '-C', folder]);
    await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
    execFileSync(process.execPath, ['scripts/build.js', '--fast', 'server'], { cwd: folder, stdio: 'pipe' });
  } catch (error) {
    await remove();
    throw error;
  }
  return { main: join(folder, 'dist/main.js'), [Symbol.asyncDispose]: remove };
}
