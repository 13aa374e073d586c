// Builds dist/. With --fast, as after npm ci, types are not checked: npm run types does that.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
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

function build(tsc) {
  rmSync(`${PROJECT}/dist`, { recursive: true, force: true });
  for (const config of ['tsconfig.build.json', 'tsconfig.client.json']) {
    const args = [tsc, '-p', config, ...(isFast ? ['--noCheck'] : [])];
    const { status } = spawnSync(process.execPath, args, { cwd: PROJECT, stdio: 'inherit' });
    if (status !== 0) return 1;
  }
  return 0;
}

const tsc = existsSync(`${PROJECT}/src/main.ts`) ? compiler() : null;
if (tsc !== null) process.exitCode = build(tsc);
else if (!isFast) {
  process.stderr.write('Cannot build: the sources or the development packages are missing. Run npm ci.\n');
  process.exitCode = 1;
}
