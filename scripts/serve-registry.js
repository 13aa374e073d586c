/**
 * npm run registry: all packages of this clone in a registry on this machine, as long as it runs, so that `npm install @fanfare/…` works in a
 * folder of yours before there is a release. Prints the line for its .npmrc.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import closeWithGrace from 'close-with-grace';
import { startRegistry } from './registry.js';

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'fanfare-registry-'));
const uplink = (await run('npm', ['config', 'get', 'registry'])).stdout.trim();
const registry = await startRegistry(folder, uplink, Number(process.env['PORT'] ?? 4873));
closeWithGrace(async () => {
  await registry.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 20 });
});
await run('npm', ['publish', '--workspaces', '--include-workspace-root', '--ignore-scripts'], {
  env: { ...process.env, ...registry.env },
  maxBuffer: 1e8,
});
console.log(`All packages are at ${registry.url} until Ctrl-C. In a folder of yours:

  echo "@fanfare:registry=${registry.url}" >> .npmrc`);
