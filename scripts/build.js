// Builds dist/ of the packages and of the server, or of those that are named. With --fast, as after npm ci, types are not
// checked: npm run types does that. It then leaves alone what is up to date: npx prepares the package too, and a server
// may be running from it.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compiler } from './compiler.js';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
/** The server comes last: it takes the types of the others from what they have built. */
const PARTS = [
  { name: 'local-engine', folder: `${PROJECT}packages/local-engine/`, result: 'dist/index.js' },
  { name: 'client', folder: `${PROJECT}packages/client/`, result: 'dist/index.js' },
  { name: 'apollo', folder: `${PROJECT}packages/apollo/`, result: 'dist/index.js' },
  { name: 'urql', folder: `${PROJECT}packages/urql/`, result: 'dist/index.js' },
  { name: 'react', folder: `${PROJECT}packages/react/`, result: 'dist/index.js' },
  { name: 'elements', folder: `${PROJECT}packages/elements/`, result: 'dist/elements.js' },
  { name: 'console', folder: `${PROJECT}console/`, result: 'dist/index.html' },
  { name: 'server', folder: PROJECT, result: 'dist/src/main.js' },
];
/** Parts of the server, which compiles them with what imports them. */
const INSIDE_SERVER = readdirSync(`${PROJECT}parts`).flatMap((name) => [
  `parts/${name}/part.ts`,
  `parts/${name}/src`,
]);
/** Of the package for React. */
const STYLES = ['style.css', 'tokens.css', 'feed.css', 'more.css'];
/** What of the packages goes into what is bundled of them. */
const INSIDE_BUNDLES = [
  'packages/client/src',
  'packages/react/src',
  ...STYLES.map((file) => `packages/react/${file}`),
];
const INSIDE = {
  console: [...INSIDE_BUNDLES, 'package.json'],
  elements: [...INSIDE_BUNDLES, 'package.json', 'packages/elements/vite.config.js'],
  react: [...STYLES.map((file) => `packages/react/${file}`), 'package.json'],
  server: INSIDE_SERVER,
};

const isFast = process.argv.includes('--fast');
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));

function filesBelow(folder) {
  return [folder, ...readdirSync(folder, { recursive: true }).map((name) => `${folder}/${name}`)];
}

function isUpToDate({ name, folder, result }) {
  if (!existsSync(folder + result)) return false;
  const settings =
    name === 'console'
      ? ['index.html', 'demo.html', 'vite.config.ts'].map((file) => folder + file)
      : [`${folder}tsconfig.build.json`, `${PROJECT}tsconfig.json`];
  const inside = (INSIDE[name] ?? []).map((path) => PROJECT + path);
  const files = [
    ...filesBelow(`${folder}src`),
    ...settings,
    ...inside.flatMap((path) => (statSync(path).isDirectory() ? filesBelow(path) : [path])),
  ];
  const changedAt = Math.max(...files.map((file) => statSync(file).mtimeMs));
  return changedAt <= statSync(folder + result).mtimeMs;
}

async function build(tsc, { name, folder }) {
  if (name === 'console') return buildConsole(folder);
  rmSync(`${folder}dist`, { recursive: true, force: true });
  const args = [tsc, '-p', 'tsconfig.build.json', ...(isFast ? ['--noCheck'] : [])];
  const { status } = spawnSync(process.execPath, args, { cwd: folder, stdio: 'inherit' });
  if (status === 0 && name === 'react') await buildStyle(folder);
  if (status === 0 && name === 'elements') await buildElements(folder);
  return status === 0;
}

async function buildStyle(folder) {
  const { styleFor } = await import('./oldest-browsers.js');
  for (const file of STYLES) writeFileSync(`${folder}dist/${file}`, await styleFor(folder + file));
}

/** One file with all that it needs. Its types name no package that it does not bring. */
async function buildElements(folder) {
  process.env.NODE_ENV = 'production';
  const { elements } = await import('../packages/elements/vite.config.js');
  const vite = await import('vite');
  await vite.build(await elements());
  copyFileSync(`${PROJECT}packages/react/dist/words.d.ts`, `${folder}dist/words.d.ts`);
}

/** What a compiler wrote in spite of errors would count as up to date the next time. */
function discard({ folder }) {
  rmSync(`${folder}dist`, { recursive: true, force: true });
  return false;
}

/** Bundled for browsers. Types are checked by npm run types. */
async function buildConsole(folder) {
  // Built from within a test it would have React for development in it, and be taken for up to date later.
  process.env.NODE_ENV = 'production';
  const vite = await import('vite');
  await vite.build({ configFile: `${folder}vite.config.ts` });
  return true;
}

/** An image has only what it builds. */
const parts = PARTS.filter(({ folder }) => existsSync(`${folder}src`)).filter(
  ({ name }) => names.length === 0 || names.includes(name),
);
const tsc = parts.length > 0 ? compiler() : null;
if (tsc !== null) {
  let isBuilt = true;
  for (const part of parts)
    isBuilt &&= (isFast && isUpToDate(part)) || (await build(tsc, part)) || discard(part);
  process.exitCode = isBuilt ? 0 : 1;
} else if (!isFast) {
  process.stderr.write('Cannot build: the sources or the development packages are missing. Run npm ci.\n');
  process.exitCode = 1;
}
