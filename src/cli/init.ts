import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError, type CommandContext } from './context.ts';
import { packageVersion } from './package-info.ts';

/** Two levels up, seen from src/cli and from dist/cli. */
const TEMPLATE = fileURLToPath(new URL('../../templates/project/', import.meta.url));

/**
 * Makes a small project in an empty folder: a configuration, an example that publishes and reads, databases for Docker.
 * @throws CommandError where the folder has something in it.
 */
export async function init({ terminal }: CommandContext, given: string): Promise<void> {
  const folder = resolve(given);
  await mkdir(folder, { recursive: true });
  const there = await readdir(folder);
  if (there.length > 0)
    throw new CommandError(
      `${folder} is not empty: it has ${there.slice(0, 3).join(', ')}. Choose another folder.`,
    );
  await cp(TEMPLATE, folder, { recursive: true });
  await writeFile(join(folder, '.gitignore'), 'node_modules\n.fanfare\n');
  await writeFile(
    join(folder, 'package.json'),
    `${JSON.stringify(manifest(await packageVersion()), null, 2)}\n`,
  );
  const place = relative('', folder);
  terminal.out(`Made a project in ${folder}. To run it:\n`);
  if (place !== '') terminal.out(`  cd ${place}`);
  terminal.out('  npm install\n  npm start');
}

function manifest(version: string): object {
  return {
    private: true,
    type: 'module',
    scripts: { start: 'node example.mjs', serve: 'fanfare serve', schema: 'fanfare schema' },
    dependencies: { '@fanfare/server': version, '@fanfare/local-engine': version },
  };
}
