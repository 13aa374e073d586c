// Builds dist/ of the packages and of the server, or of those that are named. With --fast, as after npm ci, types are not
// checked: npm run types does that. It then leaves alone what is up to date: npx prepares the package too, and a server
// may be running from it.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
/** The server comes last: it takes the types of the others from what they have built. */
const PARTS = [
  { name: 'local-engine', folder: `${PROJECT}packages/local-engine/`, result: 'dist/index.js' },
  { name: 'client', folder: `${PROJECT}packages/client/`, result: 'dist/index.js' },
  { name: 'react', folder: `${PROJECT}packages/react/`, result: 'dist/index.js' },
  { name: 'server', folder: PROJECT, result: 'dist/main.js' },
];

const isFast = process.argv.includes('--fast');
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));

/** Where the compiler is; null in an install without development packages. */
function compiler() {
  try {
    return createRequire(import.meta.url).resolve('typescript/bin/tsc');
  } catch (error) {
    if (error?.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

function isUpToDate({ folder, result }) {
  if (!existsSync(folder + result)) return false;
  const sources = readdirSync(`${folder}src`, { recursive: true }).map((name) => `${folder}src/${name}`);
  const files = [`${folder}src`, ...sources, `${folder}tsconfig.build.json`, `${PROJECT}tsconfig.json`];
  const changedAt = Math.max(...files.map((file) => statSync(file).mtimeMs));
  return changedAt <= statSync(folder + result).mtimeMs;
}

function build(tsc, { folder }) {
  rmSync(`${folder}dist`, { recursive: true, force: true });
  const args = [tsc, '-p', 'tsconfig.build.json', ...(isFast ? ['--noCheck'] : [])];
  return spawnSync(process.execPath, args, { cwd: folder, stdio: 'inherit' }).status === 0;
}

/** An image has only what it builds. */
const parts = PARTS.filter(({ folder }) => existsSync(`${folder}src`)).filter(
  ({ name }) => names.length === 0 || names.includes(name),
);
const tsc = parts.length > 0 ? compiler() : null;
if (tsc !== null) {
  const isBuilt = parts.every((part) => (isFast && isUpToDate(part)) || build(tsc, part));
  process.exitCode = isBuilt ? 0 : 1;
} else if (!isFast) {
  process.stderr.write('Cannot build: the sources or the development packages are missing. Run npm ci.\n');
  process.exitCode = 1;
}
