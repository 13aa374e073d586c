import type { CommandContext } from '../../../src/app/command-shapes.ts';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { makeFolder } from '../../../src/lib/own-file.ts';
import { isInstalled, PACKAGE, packageVersion } from '../../../src/lib/package-info.ts';
import { CommandError } from '../../../src/cli/context.ts';

const TEMPLATE = join(PACKAGE, 'templates', 'project');
/** Nothing that has appeared since the folder was looked at is written over or through. */
const NEW = { flag: 'wx' } as const;
/** Dot files written by this command. */
const OURS: ReadonlySet<string> = new Set(['.env', '.gitignore', '.fanfare']);
const ENV = `# Settings of this machine. All of them: node_modules/@fanfare/server/docs/configuration.md
# The databases of docker-compose.yml instead of local ones:
# MONGODB_URI=mongodb://127.0.0.1:27017/?replicaSet=rs0
# REDIS_URL=redis://127.0.0.1:6379
`;
/** Packages that run and check TypeScript. */
const TOOLS = ['@types/node', 'tsx', 'typescript'];
const WITH_ENV = 'node --env-file-if-exists=.env';
const WITH_TYPES = `${WITH_ENV} --import tsx`;

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
  // One by one: newer releases of Node take a folder that is there for an entry that exists.
  for (const name of await readdir(TEMPLATE))
    await cp(join(TEMPLATE, name), join(folder, name), { recursive: true, force: false, errorOnExist: true });
  await writeFile(join(folder, '.gitignore'), 'node_modules\n.fanfare\n.env\n', NEW);
  await writeFile(join(folder, '.env'), ENV, NEW);
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`, NEW);
  const place = relative('', folder);
  terminal.out(`Created a project in ${folder}. To run it:\n`);
  if (place !== '') terminal.out(`  cd ${place}`);
  terminal.out('  npm install\n  npm start\n\nREADME.md has the next steps.');
}

async function manifest(): Promise<object> {
  return {
    private: true,
    type: 'module',
    scripts: {
      start: `${WITH_ENV} node_modules/@fanfare/server/bin/fanfare.js serve`,
      example: `${WITH_TYPES} example.ts`,
      schema: 'fanfare schema',
      test: `${WITH_TYPES} --test test/*.test.ts`,
      types: 'tsc',
    },
    dependencies: await dependencies(),
    devDependencies: await tools(),
  };
}

/** The running version. A checkout may have a version that is in no registry, so its projects refer to its own packages. */
async function dependencies(): Promise<Readonly<Record<string, string>>> {
  if (!isInstalled()) {
    const engine = join(PACKAGE, 'packages', 'local-engine');
    return { '@fanfare/server': `file:${PACKAGE}`, '@fanfare/local-engine': `file:${engine}` };
  }
  const version = await packageVersion();
  return { '@fanfare/server': version, '@fanfare/local-engine': version };
}

/** At the versions that this package is developed with. */
async function tools(): Promise<Readonly<Record<string, string>>> {
  const { devDependencies } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  return Object.fromEntries(TOOLS.map((name) => [name, devDependencies[name] ?? 'latest']));
}
