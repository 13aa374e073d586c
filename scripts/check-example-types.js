/** Of the example with types of its own: what a host writes is checked by the types of the package. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compiler } from './compiler.js';

const HOST = `import { createFanfare, type HostConfig } from '@fanfare/server';
import config from './fanfare.config.mjs';

const build = { repoId: 'web', repoName: 'Web', authorId: 'ann', authorName: 'Ann' };
export async function story(): Promise<'STAGING' | 'PRODUCTION' | null> {
  await using fanfare = createFanfare(config);
  await fanfare.publish({ actorId: 'bob', descriptor: { buildFailed: { ...build, branch: 'main' } } });
  // @ts-expect-error A branch is a text.
  await fanfare.publish({ actorId: 'bob', descriptor: { buildFailed: { ...build, branch: 1 } } });
  // @ts-expect-error A branch is needed.
  await fanfare.publish({ actorId: 'bob', descriptor: { buildFailed: build } });
  // @ts-expect-error The configuration has no such type.
  await fanfare.publish({ actorId: 'bob', descriptor: { posted: { postId: 'p' } } });
  const { items } = await fanfare.read('eve', { locale: 'de' });
  const [descriptor] = items.map(({ action }) => action.descriptor);
  // @ts-expect-error There is no such type to compare with.
  if (descriptor?.type === 'Posted') return null;
  return descriptor?.type === 'Deployed' ? descriptor.stage : null;
}
export const french: HostConfig = { locales: { fr: { others: '{count} autres', manyOthers: 'd’autres', formerMember: 'Ancien membre' } } };
`;

const SETTINGS = {
  compilerOptions: {
    ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'esnext.disposable'], types: [] },
    ...{ strict: true, noEmit: true, allowJs: true, checkJs: true, skipLibCheck: true },
  },
  files: ['host.mts', 'fanfare.config.mjs'],
};

/**
 * @param folder with the configuration of the example, and the package installed
 * @returns faults, as lines
 */
export async function checkExampleTypes(folder) {
  const tsc = compiler();
  if (tsc === null) throw new Error('The development packages are missing. Run npm ci.');
  await writeFile(join(folder, 'host.mts'), HOST);
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(SETTINGS));
  try {
    await promisify(execFile)(process.execPath, [tsc, '-p', folder]);
  } catch (error) {
    return [`examples/ci: what is written against its types: ${error.stdout}`];
  }
  console.log('examples/ci is checked by the types of the package');
  return [];
}
