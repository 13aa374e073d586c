import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './child.ts';

/** Another commit of this repository, built. */
export interface Checkout {
  readonly folder: string;
  /** The commit in full. */
  readonly commit: string;
}

/**
 * Puts the files of a commit into a folder and builds them. Uses the packages that are installed here where the commit
 * wants the same ones.
 * @throws Error when there is no such commit, or it cannot be built.
 */
export function checkOut(name: string, folder: string, say: (line: string) => void): Checkout {
  const commit = git('rev-parse', '--verify', '--end-of-options', `${name}^{commit}`).trim();
  say(`Building ${commit.slice(0, 10)}`);
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, 'files.tar');
  git('archive', '--format=tar', `--output=${archive}`, commit);
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  rmSync(archive);
  if (lockOf(folder) === lockOf(PROJECT))
    symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  else run(folder, 'npm', ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund']);
  run(folder, process.execPath, ['scripts/build.js', '--fast', 'server']);
  return { folder, commit };
}

function lockOf(folder: string): string {
  return readFileSync(join(folder, 'package-lock.json'), 'utf8');
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: PROJECT, encoding: 'utf8' });
}

function run(folder: string, command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed in ${folder}:\n${stderr}`);
}
