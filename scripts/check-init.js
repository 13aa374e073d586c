/** What `fanfare init` makes of an empty folder: it is installed and started with the two commands that it prints. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/**
 * @param folder where to make it
 * @param options cli: the `fanfare` of the tarball; tarballs: names of packages with their files, in place of the registry;
 * env: of the processes that are started
 * @returns faults, as lines
 */
export async function checkInit(folder, { cli, tarballs, env }) {
  const version = JSON.parse(await readFile('package.json', 'utf8')).version;
  const fromTarball = await checkProject(join(folder, 'made'), {
    ...{ cli, env, name: 'fanfare init' },
    mend(dependencies) {
      const odd = Object.values(dependencies).filter((wanted) => wanted !== version);
      if (odd.length > 0) return `depends on ${odd.join(', ')}, not on ${version}`;
      for (const { name, file } of tarballs) if (name in dependencies) dependencies[name] = `file:${file}`;
      return null;
    },
  });
  // Of a checkout that no registry has: as it is.
  const fromCheckout = await checkProject(join(folder, 'made-by-checkout'), {
    ...{ cli: resolve('bin/fanfare.js'), env, name: 'fanfare init in a checkout' },
    mend: () => null,
  });
  return [...fromTarball, ...fromCheckout];
}

/** @param options mend: changes what the project depends on, or says what is wrong with it */
async function checkProject(made, { cli, env, name, mend }) {
  const run = (command, args) => promisify(execFile)(command, args, { cwd: made, env, maxBuffer: 1e8 });
  // A folder under version control is as good as an empty one.
  await mkdir(join(made, '.git'), { recursive: true });
  const { stdout: said } = await run(process.execPath, [cli, 'init']);
  const commands = [...said.matchAll(/^ {2}(npm .+)$/gm)].map(([, command]) => command);
  if (commands.join() !== 'npm install,npm start')
    return [`${name}: says to run ${JSON.stringify(commands)}`];
  const path = join(made, 'package.json');
  const manifest = JSON.parse(await readFile(path, 'utf8'));
  const fault = mend(manifest.dependencies);
  if (fault !== null) return [`${name}: ${fault}`];
  await writeFile(path, JSON.stringify(manifest));
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline']);
  const { stdout, stderr } = await run('npm', ['start']).catch((error) => error);
  const isRead = /Eve reads: .*Ann.*the landing/.test(stdout) && stdout.match(/Eve reads/g).length === 2;
  if (!isRead) return [`${name}: its example says ${stdout}${stderr}`];
  console.log(`What ${name} makes runs with npm install and npm start, and reads what it has published`);
  return [];
}
