import { readFile } from 'node:fs/promises';

/** Version of this package. The manifest is two levels up, from src/cli as well as from dist/cli. */
export async function packageVersion(): Promise<string> {
  const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return manifest.version;
}
