import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * How to run one of our own modules as a process, from the sources as well as from the build. `entry` is named as in
 * the sources (`.ts`); in the build, which this module is then part of, it is the `.js` file beside it.
 * The options this process was started with are not passed on: a debugger's port, for one, cannot be used twice.
 */
export function nodeCommand(
  entry: URL,
  args: readonly string[],
): { readonly command: string; readonly args: readonly string[] } {
  const built = import.meta.url.endsWith('.js');
  const file = fileURLToPath(entry);
  return {
    command: process.execPath,
    args: built
      ? ['--enable-source-maps', file.replace(/\.ts$/, '.js'), ...args]
      : ['--import', typeScriptLoader(), file, ...args],
  };
}

function typeScriptLoader(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
}
