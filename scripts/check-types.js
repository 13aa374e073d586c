// Checks the types of the server with its tests, of the React package, of a frontend with types of its own, of the console and of the example in React.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compiler } from './compiler.js';

const PROJECTS = [
  'tsconfig.json',
  'packages/react',
  'packages/react/test/own-types',
  'packages/elements',
  'console',
  'examples/react',
  'examples/recipes',
];

const cwd = fileURLToPath(new URL('..', import.meta.url));
const tsc = compiler();
if (tsc === null) throw new Error('The development packages are missing. Run npm ci.');
for (const project of PROJECTS) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', project], { cwd, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
