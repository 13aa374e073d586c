import { cp, readdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../lib/make-folder.ts';
import { CommandError, type CommandContext } from './context.ts';
import { packageVersion } from './package-info.ts';

/** Two levels up, from src/cli as well as from dist/cli. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');
const TEMPLATE = join(ROOT, 'templates', 'project');
/** Nothing that has appeared since the folder was looked at is written over or through. */
const NEW = { flag: 'wx' } as const;
/** Dot files written by this command. */
const OURS: ReadonlySet<string> = new Set(['.gitignore', '.fanfare']);

/** Creates a small project in an empty folder. @throws CommandError if the folder is not empty. */
export async function init({ terminal }: CommandContext, given: string): Promise<void> {
  const folder = resolve(given);
  await makeFolder(folder).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${folder} cannot be created: ${reason}`, { cause: error });
  });
  // Dot files of version control or editors do not matter.
  const there = (await readdir(folder)).filter((name) => !name.startsWith('.') || OURS.has(name));
  if (there.length > 0)
    throw new CommandError(
      `${folder} is not empty: it contains ${there.slice(0, 3).join(', ')}. Choose another folder.`,
    );
  await cp(TEMPLATE, folder, { recursive: true, force: false, errorOnExist: true });
  await writeFile(join(folder, '.gitignore'), 'node_modules\n.fanfare\n', NEW);
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`, NEW);
  const place = relative('', folder);
  terminal.out(`Created a project in ${folder}. To run it:\n`);
  if (place !== '') terminal.out(`  cd ${place}`);
  terminal.out('  npm install\n  npm start');
}

async function manifest(): Promise<object> {
  return {
    private: true,
    type: 'module',
    scripts: { start: 'node example.mjs', serve: 'fanfare serve', schema: 'fanfare schema' },
    dependencies: await dependencies(),
  };
}

/** The running version. A checkout may have a version that is in no registry, so its projects refer to its own packages. */
async function dependencies(): Promise<Readonly<Record<string, string>>> {
  if (!isInstalled(ROOT)) {
    const engine = join(ROOT, 'packages', 'local-engine');
    return { '@fanfare/server': `file:${ROOT}`, '@fanfare/local-engine': `file:${engine}` };
  }
  const version = await packageVersion();
  return { '@fanfare/server': version, '@fanfare/local-engine': version };
}

function isInstalled(folder: string): boolean {
  return folder.split(sep).includes('node_modules');
}
