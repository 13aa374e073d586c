import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** A folder with some files of the project. Disposing removes it. */
export interface ProjectCopy extends AsyncDisposable {
  readonly path: string;
}

/** Copies files and folders of the project, and links its packages. */
export async function copyProject(names: readonly string[]): Promise<ProjectCopy> {
  const path = await mkdtemp(join(tmpdir(), 'fanfare-project-'));
  for (const name of names)
    await cp(join(PROJECT, name), join(path, name), { recursive: true, preserveTimestamps: true });
  await symlink(join(PROJECT, 'node_modules'), join(path, 'node_modules'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
