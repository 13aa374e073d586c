import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';

/** The folder of this package, seen from its sources and from its build alike. */
export const PACKAGE = dirname(createRequire(import.meta.url).resolve('@fanfare/server/package.json'));

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
 * The command as one types it. Outside the repository the full name of the package: where it is not installed, npm
 * takes `fanfare` for another package. Inside the repository npm knows only the short one.
 */
export function ownCommand(folder = PACKAGE): string {
  return isInstalled(folder) ? 'npx @fanfare/server' : 'npx fanfare';
}
