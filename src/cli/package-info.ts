import { readFile } from 'node:fs/promises';

/** The version of this package. The manifest is two levels up, seen from src/cli and from dist/cli. */
export async function packageVersion(): Promise<string> {
  const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return manifest.version;
}
