#!/usr/bin/env node
// Runs the build. In a checkout whose sources are newer it runs those, through a loader, so that what runs is never
// older than what one reads; that costs time and memory, so it says so.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const sources = new URL('../src/', import.meta.url);
const engine = new URL('../packages/local-engine/', import.meta.url);
const parts = new URL('../parts/', import.meta.url);
const built = new URL('../dist/src/main.js', import.meta.url);

/** Since when there is anything new in a folder, in milliseconds. Folders count: a removal shows nowhere else. */
function changedAt(folder) {
  const names = readdirSync(folder, { recursive: true });
  return Math.max(...['.', ...names].map((name) => statSync(`${fileURLToPath(folder)}/${name}`).mtimeMs));
}

function isOlder(result, folder) {
  return existsSync(folder) && (!existsSync(result) || changedAt(folder) > statSync(result).mtimeMs);
}

function sourcesOfParts() {
  return existsSync(parts) ? readdirSync(parts).map((name) => new URL(`${name}/src/`, parts)) : [];
}

function whyNotTheBuild() {
  if (!existsSync(sources)) return null;
  if (!existsSync(built)) return 'There is no build';
  return [sources, ...sourcesOfParts()].some((folder) => isOlder(built, folder)) ||
    isOlder(new URL('dist/index.js', engine), new URL('src/', engine))
    ? 'The build is older than the sources'
    : null;
}

/** The loader of TypeScript, which only a checkout with its development packages has. */
async function loader() {
  try {
    return await import('tsx/esm/api');
  } catch (error) {
    if (error?.code === 'ERR_MODULE_NOT_FOUND') return null;
    throw error;
  }
}

const why = whyNotTheBuild();
const tsx = why === null ? null : await loader();
if (why !== null && tsx === null && !existsSync(built)) {
  process.stderr.write(`${why}, and nothing to make it with. Run npm ci, or npm ci && npm run build.\n`);
  process.exitCode = 1;
} else if (why === null || tsx === null) {
  if (why !== null) process.stderr.write(`${why}. It is run all the same.\n`);
  process.setSourceMapsEnabled(true);
  await import(built.href);
} else {
  process.stderr.write(`${why}: running the sources, which is slower. npm run build makes the build.\n`);
  tsx.register({ tsconfig: fileURLToPath(new URL('../tsconfig.json', import.meta.url)) });
  await import(new URL('main.ts', sources).href);
}
