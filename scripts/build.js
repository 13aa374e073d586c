// Builds dist/. With --fast, as after npm ci, types are not checked: npm run types does that. It then leaves a build alone
// that is up to date: npx prepares the package too, and a server may be running from it.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const isFast = process.argv.includes('--fast');

/** Where the compiler is; null in an install without development packages. */
function compiler() {
  try {
    return createRequire(import.meta.url).resolve('typescript/bin/tsc');
  } catch (error) {
    if (error?.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

const CONFIGS = ['tsconfig.build.json', 'tsconfig.client.json'];

function isUpToDate() {
  const results = ['dist/main.js', 'dist/client/index.d.ts'].map((file) => `${PROJECT}/${file}`);
  if (!results.every((file) => existsSync(file))) return false;
  const sources = ['src', ...readdirSync(`${PROJECT}/src`, { recursive: true }).map((name) => `src/${name}`)];
  const changed = [...sources, ...CONFIGS, 'tsconfig.json'].map(
    (name) => statSync(`${PROJECT}/${name}`).mtimeMs,
  );
  return Math.max(...changed) <= Math.min(...results.map((file) => statSync(file).mtimeMs));
}

function build(tsc) {
  rmSync(`${PROJECT}/dist`, { recursive: true, force: true });
  for (const config of CONFIGS) {
    const args = [tsc, '-p', config, ...(isFast ? ['--noCheck'] : [])];
    const { status } = spawnSync(process.execPath, args, { cwd: PROJECT, stdio: 'inherit' });
    if (status !== 0) return 1;
  }
  return 0;
}

const tsc = existsSync(`${PROJECT}/src/main.ts`) ? compiler() : null;
if (tsc !== null) process.exitCode = isFast && isUpToDate() ? 0 : build(tsc);
else if (!isFast) {
  process.stderr.write('Cannot build: the sources or the development packages are missing. Run npm ci.\n');
  process.exitCode = 1;
}
