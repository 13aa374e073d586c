/** Of the client and of the elements alone: an empty folder has one and nothing else of this project, Node and a browser's bundler take it. */
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'vite';
import { buildTarget } from './oldest-browsers.js';
import { walkPage } from './walk-page.js';

const IMPORTS = `import { createFeedClient } from '@fanfare/client';
const client = createFeedClient({ url: 'http://127.0.0.1:9/graphql', token: 'token' });
if (typeof client.watch !== 'function') throw new Error('The client cannot watch');
console.log('made');`;

/**
 * As its README has it. What brings types brings the client, and nothing else.
 * @param cwd an empty folder
 * @param options env: of the processes that are started
 * @returns faults, as lines
 */
export async function checkElements(cwd, { env }) {
  await writeFile(join(cwd, 'package.json'), '{ "private": true, "type": "module" }');
  await writeFile(join(cwd, 'entry.js'), "import '@fanfare/elements';");
  const { faults } = await walkPage('packages/elements/README.md', { cwd, env });
  const installed = await readdir(join(cwd, 'node_modules/@fanfare'));
  if (installed.join() !== 'client,elements')
    faults.push(`@fanfare/elements brings others: ${installed.join(', ')}`);
  await promisify(execFile)(process.execPath, ['entry.js'], { cwd, env }).catch((error) =>
    faults.push(`@fanfare/elements in Node: ${error}`),
  );
  faults.push(...(await bundleFaults(cwd, '@fanfare/elements')));
  if (faults.length === 0) console.log('@fanfare/elements works alone, in Node and bundled for a browser');
  return faults;
}

/**
 * @param cwd an empty folder
 * @param options env: of the processes that are started
 * @returns faults, as lines
 */
export async function checkClient(cwd, { env }) {
  const run = (command, args) => promisify(execFile)(command, args, { cwd, env, maxBuffer: 1e8 });
  await writeFile(join(cwd, 'package.json'), '{ "private": true, "type": "module" }');
  await writeFile(join(cwd, 'entry.js'), IMPORTS);
  const { faults } = await walkPage('packages/client/README.md', { cwd, env });
  const installed = (await readdir(join(cwd, 'node_modules'))).filter((name) => !name.startsWith('.'));
  const others = installed.filter((name) => name !== '@fanfare');
  const beside = await readdir(join(cwd, 'node_modules/@fanfare'));
  if (others.length > 0 || beside.length > 1)
    faults.push(`@fanfare/client brings others: ${[...others, ...beside].join(', ')}`);
  const { stdout, stderr } = await run(process.execPath, ['entry.js']).catch((error) => error);
  if (stdout !== 'made\n') faults.push(`@fanfare/client alone in Node: ${stdout}${stderr}`);
  faults.push(...(await bundleFaults(cwd, '@fanfare/client')));
  if (faults.length === 0) console.log('@fanfare/client works alone, in Node and bundled for a browser');
  return faults;
}

/**
 * Of entry.js in that folder, for a browser, where nothing of Node is.
 * @param name of the package that it imports
 */
export async function bundleFaults(cwd, name) {
  const fromNode = [];
  const { output } = await build({
    ...{ root: cwd, configFile: false, logLevel: 'error' },
    plugins: [
      {
        ...{ name: 'nothing-of-node', enforce: 'pre' },
        resolveId(id) {
          if (isBuiltin(id)) fromNode.push(id);
        },
      },
    ],
    build: { write: false, target: buildTarget(), rolldownOptions: { input: join(cwd, 'entry.js') } },
  });
  const chunks = output.filter(({ type }) => type === 'chunk');
  const left = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
  const faults = [...fromNode, ...left].map((id) => `${name} in a browser: its bundle imports ${id}`);
  // A bundle that has lost its parts would import nothing either.
  if (!chunks.some(({ code }) => code.includes('feedEvents')))
    faults.push(`${name} in a browser: its bundle subscribes to nothing`);
  return faults;
}
