/** What `fanfare init` makes of an empty folder: it is installed and started with the two commands that it prints. */
import { execFile } from 'node:child_process';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { served } from './served.js';

const OTHER_TYPES = `import { defineConfig, defineDescriptor, field } from '@fanfare/server';
export default defineConfig({
  packs: [],
  descriptors: [
    defineDescriptor('Sailed', {
      description: 'A boat left.',
      fields: { boat: field.text() },
      summary: { en: '{actor} sailed {boat}' },
    }),
  ],
});
`;
const PUBLISH_OTHER = `mutation { publishAction(input: { actorId: "ann", scope: PUBLIC, descriptor: { sailed: { boat: "Argo" } } }) {
  action { descriptor { summary } } } }`;

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
  const faults = [...(await linkFaults(made)), ...(await tryOut(made, { run, env }))];
  // An owner's own types, in place of those that it came with.
  await writeFile(join(made, 'fanfare.config.mjs'), OTHER_TYPES);
  const after = await tryOut(made, { run, env, mutation: PUBLISH_OTHER });
  faults.push(...after.map((fault) => `with other types: ${fault}`));
  if (faults.length === 0)
    console.log(
      `What ${name} makes runs with npm install and npm start, its example beside it, with other types too`,
    );
  return faults.map((fault) => `${name}: ${fault}`);
}

/** Starts the server, publishes what the README shows, and plays the example. @returns faults */
async function tryOut(made, { run, env, mutation }) {
  const shown = mutation ?? (await mutationOf(made));
  const answer = await served('npm', ['start'], { cwd: made, env: { ...env, PORT: '0' } }, async (ask) => ({
    published: await ask(shown),
    example: await run('npm', ['run', 'example']).catch((error) => error),
  }));
  const { published, example } = answer;
  const faults = [];
  if (published.errors !== undefined) faults.push(`its server answers ${JSON.stringify(published)}`);
  if (!/Eve reads: Ann finished task The landing/.test(example.stdout))
    faults.push(`its example says ${example.stdout}${example.stderr}`);
  return faults;
}

async function mutationOf(made) {
  const text = await readFile(join(made, 'README.md'), 'utf8');
  return /```graphql\n(.*?)```/s.exec(text)[1];
}

/** What its files name of the installed packages is there. */
async function linkFaults(made) {
  const faults = [];
  for (const file of ['README.md', 'fanfare.config.mjs'])
    for (const [path] of (await readFile(join(made, file), 'utf8')).matchAll(/node_modules\/[\w@/.-]+\w/g))
      await access(join(made, path)).catch(() => faults.push(`${file} names ${path}, which is not there`));
  return faults;
}
