import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BENCH = fileURLToPath(new URL('..', import.meta.url));

// The peer has packages that ask for Node 11. What .npmrc says of that is overruled by the npm that runs this.
const ARGUMENTS = ['ci', '--engine-strict=false', '--ignore-scripts', '--omit=optional', '--loglevel=error'];

/** Installs the peer and the usual ways, which nothing else needs, where that is missing or older than the lock file says. */
export function ensurePackages(say: (line: string) => void): void {
  for (const folder of ['peer', 'usual'].map((name) => join(BENCH, name))) {
    const lock = createHash('sha256')
      .update(readFileSync(join(folder, 'package-lock.json')))
      .digest('hex');
    const mark = join(folder, 'node_modules', '.installed-from');
    if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) continue;
    say(`Installing the packages of ${folder}`);
    const { status, stderr } = spawnSync('npm', ARGUMENTS, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (status !== 0) throw new Error(`npm ci failed in ${folder}:\n${stderr}`);
    writeFileSync(mark, lock);
  }
}
