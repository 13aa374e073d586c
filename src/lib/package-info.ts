import { readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package: two levels up, from src/lib as well as from dist/lib. */
export const PACKAGE = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

export async function packageVersion(): Promise<string> {
  const manifest = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return manifest.version;
}

/** Otherwise it is a checkout or an image. */
export function isInstalled(folder = PACKAGE): boolean {
  return folder.split(sep).includes('node_modules');
}

/**
 * What to type for the command line. Outside the repository the full name of the package: where it is not installed, npm
 * takes `fanfare` for another package. Inside the repository npm knows only the short one.
 */
export function ownCommand(folder = PACKAGE): string {
  return isInstalled(folder) ? 'npx @fanfare/server' : 'npx fanfare';
}
