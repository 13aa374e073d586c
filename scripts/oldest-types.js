/** Types of the packages as the oldest TypeScript that they name takes them, however it looks for modules. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const RESOLUTIONS = [
  ['--module', 'esnext', '--moduleResolution', 'node'],
  ['--module', 'esnext', '--moduleResolution', 'bundler'],
  ['--module', 'nodenext', '--moduleResolution', 'nodenext'],
];

/**
 * @param cwd a folder with a package and what stands beside it installed
 * @param options name: of the package; code: what imports it; env
 * @returns faults, as lines
 */
export async function oldestTypeFaults(cwd, { name, code, env }) {
  const run = (command, args) => promisify(execFile)(command, args, { cwd, env, maxBuffer: 1e8 });
  const manifest = JSON.parse(await readFile(join(cwd, `node_modules/${name}/package.json`), 'utf8'));
  const [oldest] = Object.keys(manifest.typesVersions ?? {});
  if (!/^>=\d+\.\d+$/.test(oldest ?? '')) return [`${name} does not say which TypeScript is the oldest`];
  // The first release of it that npm has.
  await run('npm', ['install', '--legacy-peer-deps', `typescript@~${oldest.slice(2)}.0`]);
  await writeFile(join(cwd, 'oldest.ts'), code);
  const compiler = join(cwd, 'node_modules/typescript/bin/tsc');
  const faults = [];
  for (const resolution of RESOLUTIONS) {
    const args = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', ...resolution, 'oldest.ts'];
    await run(process.execPath, [compiler, ...args]).catch(({ stdout }) =>
      faults.push(`${name} with TypeScript ${oldest}, ${resolution.join(' ')}: ${stdout}`),
    );
  }
  if (faults.length === 0)
    console.log(`${name} has types for TypeScript ${oldest}, ${RESOLUTIONS.length} ways`);
  return faults;
}
