/** Of the packages for caches: an empty folder has them by their READMEs, whose code TypeScript, Node and a browser's bundler take. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleFaults } from './check-client.js';
import { compiler } from './compiler.js';
import { blocksOf } from './shown-commands.js';
import { walkPage } from './walk-page.js';

/** What a page has of its own. */
const OF_THE_HOST = `declare const getToken: () => Promise<string>;
declare const draw: (feed: { readonly edges: readonly unknown[] } | undefined) => void;
`;
const OPTIONS = [
  '--strict',
  '--skipLibCheck',
  '--module',
  'nodenext',
  '--target',
  'es2023',
  '--ignoreConfig',
];

/**
 * @param cwd an empty folder
 * @param options env: of the processes that are started
 * @returns faults, as lines
 */
export async function checkCaches(cwd, { env }) {
  const faults = await Promise.all(['apollo', 'urql'].map((name) => checkCache(join(cwd, name), name, env)));
  return faults.flat();
}

async function checkCache(cwd, name, env) {
  const run = (command, args) => promisify(execFile)(command, args, { cwd, env, maxBuffer: 1e8 });
  const page = `packages/${name}/README.md`;
  await mkdir(cwd);
  await writeFile(join(cwd, 'package.json'), '{ "private": true, "type": "module" }');
  const { faults } = await walkPage(page, { cwd, env });
  const [{ code } = {}] = blocksOf(await readFile(page, 'utf8')).filter(({ language }) => language === 'ts');
  await writeFile(join(cwd, 'shown.ts'), `${OF_THE_HOST}${code}`);
  await run(process.execPath, [compiler(), '--noEmit', ...OPTIONS, 'shown.ts']).catch(({ stdout }) =>
    faults.push(`${page}: its code: ${stdout}`),
  );
  const imports = `import { createFanfare } from '@fanfare/${name}';
const fanfare = createFanfare({ url: 'http://127.0.0.1:9/graphql', token: 'token' });
console.log(typeof fanfare.feed().watch);`;
  await writeFile(join(cwd, 'entry.js'), imports);
  const { stdout, stderr } = await run(process.execPath, ['entry.js']).catch((error) => error);
  if (stdout !== 'function\n') faults.push(`@fanfare/${name} in Node: ${stdout}${stderr}`);
  faults.push(...(await bundleFaults(cwd, `@fanfare/${name}`)));
  if (faults.length === 0) console.log(`@fanfare/${name} works, in Node and bundled for a browser`);
  return faults;
}
