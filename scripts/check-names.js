/** What the pages and examples name of the published packages: packages, their parts, and what is imported from them. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compiler } from './compiler.js';

const IMPORT = /\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(@fanfare\/[^']+)'/g;
const NAME = /(?<!node_modules\/)@fanfare\/[a-z][a-z-]*(?:\/[a-z.-]*[a-z])?/g;
/** Of this repository alone. */
const UNPUBLISHED = new Set(['@fanfare/bench']);

/**
 * @param cwd a folder with all packages installed
 * @param options published: their names; run: starts a program
 * @returns faults, as lines
 */
export async function checkNames(cwd, { published, run }) {
  const { stdout } = await run('git', ['ls-files', '*.md', 'examples', 'templates/project', 'docs/examples']);
  const names = new Set();
  const imports = new Set();
  for (const path of stdout
    .trim()
    .split('\n')
    .filter((file) => /\.(?:md|tsx?|mjs)$/.test(file))) {
    const text = await readFile(path, 'utf8');
    for (const [name] of text.matchAll(NAME)) names.add(name);
    for (const [, list, from] of text.matchAll(IMPORT))
      for (const one of list.split(',')) {
        const [name] = one
          .trim()
          .replace(/^type /, '')
          .split(/\s+as\s+/);
        if (name !== '') imports.add(`export type { ${name} as N${imports.size} } from '${from}';`);
      }
  }
  const faults = [];
  for (const name of names) {
    const whole = name.split('/').slice(0, 2).join('/');
    if (!published.includes(whole)) {
      if (!UNPUBLISHED.has(whole)) faults.push(`The pages name ${name}, which is not published`);
      continue;
    }
    const { exports } = JSON.parse(await readFile(join(cwd, 'node_modules', whole, 'package.json'), 'utf8'));
    if (name !== whole && !(`.${name.slice(whole.length)}` in exports))
      faults.push(`The pages name ${name}, which ${whole} does not export`);
  }
  if (imports.size < 20) faults.push(`The pages import only ${imports.size} names: are they still found?`);
  const file = join(cwd, 'names.mts');
  await writeFile(file, [...imports].join('\n'));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023'];
  await run(process.execPath, [compiler(), ...options, '--ignoreConfig', file], { cwd }).catch(
    ({ stdout: said }) => faults.push(`The pages import what is not there: ${said}`),
  );
  if (faults.length === 0)
    console.log(`All ${names.size} packages and parts and ${imports.size} imports of the pages exist`);
  return faults;
}
