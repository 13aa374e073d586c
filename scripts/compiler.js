import { fileURLToPath } from 'node:url';

/**
 * Where the compiler of TypeScript is, to be run by Node; null in an install without development packages. Version 7
 * compiles four times as fast as version 6, and has no programming interface: the linter and the generators of code work
 * with version 6.
 */
export function compiler() {
  try {
    return fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript-7/package.json')));
  } catch (error) {
    if (error?.code === 'ERR_MODULE_NOT_FOUND') return null;
    throw error;
  }
}
