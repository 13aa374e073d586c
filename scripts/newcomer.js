/**
 * How long a newcomer takes from an empty folder to a server, a page with a feed and a bell, and a type of their own: what the first section of
 * docs/react.md says is done word for word, installs included, with a browser that looks at the page. Packages of this project come from a
 * registry on this machine; nothing was downloaded before. Prints each command with its seconds, and all of them in minutes.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkQuickstart } from './check-quickstart.js';
import { startRegistry } from './registry.js';

const MOST_MINUTES = 10;

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'fanfare-newcomer-'));
const made = async (name) => {
  await mkdir(join(folder, name));
  return join(folder, name);
};
const uplink = (await run('npm', ['config', 'get', 'registry'])).stdout.trim();
const registry = await startRegistry(await made('registry'), uplink);
try {
  // As in a shell of its own: what npm passes on to its scripts are the settings of this project.
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const env = {
    ...Object.fromEntries(own),
    ...registry.env,
    ...{ npm_config_cache: await made('npm'), npm_config_yes: 'true' },
  };
  const args = ['publish', '--workspaces', '--include-workspace-root', '--ignore-scripts'];
  await run('npm', args, { env, maxBuffer: 1e8 });
  const began = performance.now();
  const faults = await checkQuickstart(await made('page'), { env });
  const minutes = (performance.now() - began) / 60_000;
  console.log(`${minutes.toFixed(1)} minutes, of ${MOST_MINUTES}`);
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 || minutes > MOST_MINUTES ? 1 : 0;
} finally {
  await registry.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 20 });
}
