/** What `fanfare init` makes of an empty folder: it is installed and started with the two commands that it prints. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * @param folder where to make it
 * @param options cli: the `fanfare` of the tarball; tarballs: names of packages with their files, in place of the registry;
 * env: of the processes that are started
 * @returns faults, as lines
 */
export async function checkInit(folder, { cli, tarballs, env }) {
  const made = join(folder, 'made');
  const run = (command, args) => promisify(execFile)(command, args, { cwd: made, env, maxBuffer: 1e8 });
  await mkdir(made);
  const { stdout: said } = await run(process.execPath, [cli, 'init']);
  const commands = [...said.matchAll(/^ {2}(npm .+)$/gm)].map(([, command]) => command);
  if (commands.join() !== 'npm install,npm start')
    return [`fanfare init: says to run ${JSON.stringify(commands)}`];
  const path = join(made, 'package.json');
  const manifest = JSON.parse(await readFile(path, 'utf8'));
  for (const { name, file } of tarballs)
    if (name in manifest.dependencies) manifest.dependencies[name] = `file:${file}`;
  await writeFile(path, JSON.stringify(manifest));
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline']);
  const { stdout, stderr } = await run('npm', ['start']).catch((error) => error);
  const isRead = /Eve reads: .*Ann.*the landing/.test(stdout) && stdout.match(/Eve reads/g).length === 2;
  if (!isRead) return [`fanfare init: its example says ${stdout}${stderr}`];
  console.log('What fanfare init makes runs with npm install and npm start, and reads what it has published');
  return [];
}
