import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { EmbeddedError } from '../errors.ts';

/** Where programs are looked for when the caller names no PATH: what Debian gives to root. */
export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The first executable of that name in the folders of `path`, or null. */
export function findExecutable(name: string, path: string): string | null {
  for (const folder of path.split(delimiter)) {
    // An empty entry means the current folder, and that is no place to take a server from.
    if (folder === '') continue;
    const candidate = join(folder, name);
    if (isExecutable(candidate)) return candidate;
  }
  return null;
}

/** The same, for a program that has to be there. Fails with START_FAILED. */
export function needExecutable(name: string, path: string): string {
  const file = findExecutable(name, path);
  if (file === null)
    throw new EmbeddedError('START_FAILED', `\`${name}\` is needed, but it is not in ${path}.`);
  return file;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
