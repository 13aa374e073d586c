/**
 * A release that reaches nobody: all packages are published to a registry on this machine. From there, and from nowhere else, they are
 * looked at as a user gets them: linted, their types resolved as Node and bundlers do, installed into empty folders. What the
 * pages for newcomers say is done word for word, the server runs by several releases of Node, and what the pages import exists.
 * Prints a line for each command. Nothing is left behind or left running.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { generate } from '@graphql-codegen/cli';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { checkCaches } from './check-caches.js';
import { checkClient, checkElements } from './check-client.js';
import { checkExampleTypes } from './check-example-types.js';
import { checkNames } from './check-names.js';
import { checkQuickstart } from './check-quickstart.js';
import { checkReact } from './check-react.js';
import { checkReact18 } from './check-react-18.js';
import { startRegistry } from './registry.js';
import { served } from './served.js';
import { walkPage } from './walk-page.js';

/** All are ESM only, which this reports. */
const ESM_ONLY = new Set(['CJSResolvesToESM']);
const LARGEST_CONSOLE_BYTES = 300_000;
/** What a browser has to have before it shows the feed. */
const LARGEST_FIRST_SCREEN_BYTES = 120_000;
const DELIVERED_WITHIN_MS = 240_000;
/** The oldest that engines allows, and the newest of those that run the workflow. */
const NODES = ['20.19.0', '22', '24'];
/** What is published and how it is read, over the server's own database. */
const ROUND = `mutation { publishAction(input: { mentions: ["demo"], descriptor: {
  custom: { verb: "ran", objectType: "node", objectId: "node" } } }) { action { id } } }`;
const PAGE = '{ feed(first: 1) { edges { node { action { actor { memberId } } } } } }';
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
const WITH_OTHER_TYPES = `
~~~sh
npm start
npm run example
~~~
~~~graphql
mutation { publishAction(input: { actorId: "ann", scope: PUBLIC, descriptor: { sailed: { boat: "Argo" } } }) { action { id } } }
~~~
`.replaceAll('~~~', '```');

const folder = await mkdtemp(join(tmpdir(), 'fanfare-release-'));
const { version } = JSON.parse(await readFile('package.json', 'utf8'));
const faults = [];
const uplink = (await promisify(execFile)('npm', ['config', 'get', 'registry'])).stdout.trim();
const registry = await startRegistry(await made('registry'), uplink);
try {
  const env = await npmSettings(registry.env);
  const run = (command, args, options) =>
    promisify(execFile)(command, args, { env, maxBuffer: 1e8, ...options });
  await publish(run);
  const names = await publishedNames(registry.url);
  const context = { folder, env, run, names };
  // As many beside each other as two cores carry: much of it is waiting for npm.
  await Promise.all([
    firstFeed(context),
    Promise.all(names.map((name) => lint(registry.url, name))).then(() => example(context)),
    reactExample(context).then(() => nodes(context)),
    clientAlone(context).then(() => projectOfCheckout(context)),
  ]);
} finally {
  await registry.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 20 });
}
await checkConsoleSize();
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);

async function made(name) {
  await mkdir(join(folder, name), { recursive: true });
  return join(folder, name);
}

/**
 * As in a shell of its own: what npm passes on to its scripts are the settings of this project. What was downloaded before is
 * used again, but no package that `npx` has installed before.
 */
async function npmSettings(registrySettings) {
  const cache = (await promisify(execFile)('npm', ['config', 'get', 'cache'])).stdout.trim();
  await mkdir(join(cache, '_cacache'), { recursive: true });
  await symlink(join(cache, '_cacache'), join(await made('npm'), '_cacache'));
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const quiet = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' };
  return {
    ...Object.fromEntries(own),
    ...quiet,
    ...registrySettings,
    npm_config_cache: join(folder, 'npm'),
    // npx asks before it installs.
    npm_config_yes: 'true',
  };
}

/** The same command as in .github/workflows/release.yml. */
async function publish(run) {
  const args = ['publish', '--workspaces', '--include-workspace-root', '--ignore-scripts'];
  const { stderr } = await run('npm', args);
  console.log(`npm ${args.join(' ')}`);
  const warned = [...stderr.matchAll(/^npm warn publish (?!Skipping workspace).*$/gm)];
  for (const [warning] of warned) faults.push(`When it is published: ${warning}`);
}

/** Those of this project that anybody can install, which all have the same version. */
async function publishedNames(registry) {
  const manifests = ['package.json'];
  for (const name of await readdir('packages'))
    if ((await readdir(join('packages', name))).includes('package.json'))
      manifests.push(join('packages', name, 'package.json'));
  const names = [];
  for (const path of manifests) {
    const { name } = JSON.parse(await readFile(path, 'utf8'));
    const { versions } = await (await fetch(`${registry}/${name.replace('/', '%2f')}`)).json();
    if (versions?.[version] === undefined) faults.push(`${name} ${version} was not published`);
    names.push(name);
  }
  return names;
}

/** @param name of a package, whose tarball is taken from the registry */
async function lint(registry, name) {
  const { versions } = await (await fetch(`${registry}/${name.replace('/', '%2f')}`)).json();
  const response = await fetch(versions[version].dist.tarball);
  const tarball = await response.arrayBuffer();
  const contents = createPackageFromTarballData(new Uint8Array(tarball));
  const files = contents.listFiles().map((path) => path.replace(/^\/node_modules\/(?:@[^/]+\/)?[^/]+\//, ''));
  const strange = files.filter((path) =>
    /^src\/|(?:^|\/)bench\/|^(?!templates\/).*\btest\/|\.tsbuildinfo$|\.env/.test(path),
  );
  if (strange.length > 0) faults.push(`${name}: should not be in the package: ${strange.join(', ')}`);
  console.log(`${name} ${version}: ${files.length} files, ${Math.round(tarball.byteLength / 1024)} KiB`);
  const { messages, pkg } = await publint({ pack: { tarball } });
  for (const message of messages)
    if (message.type !== 'suggestion') faults.push(`${name}: ${formatMessage(message, pkg) ?? message.code}`);
  const { problems = [] } = await checkPackage(contents, { excludeEntrypoints: [/\.css$/] });
  const wrong = problems.filter(
    ({ kind, resolutionKind }) => !(ESM_ONLY.has(kind) && resolutionKind === 'node16-cjs'),
  );
  for (const problem of wrong) faults.push(`${name}: types: ${JSON.stringify(problem)}`);
}

/** docs/getting-started.md, and then the README of the project that it makes, with its types and with others. */
async function firstFeed({ env }) {
  const cwd = await made('first-feed');
  await importFiles(cwd);
  const after = async (command, text) =>
    /^curl -s /.test(command) && !/"summary":"/.test(text) ? `it prints ${text}` : null;
  await walk('docs/getting-started.md', { cwd, env, after });
  const project = join(cwd, 'my-feed');
  const exampleSays = (command, text) =>
    command === 'npm run example' && !/Eve reads: Ann finished task The landing/.test(text)
      ? `it prints ${text}`
      : null;
  await walk(join(project, 'README.md'), { cwd: project, env, after: exampleSays });
  await linksLead(project);
  await writeFile(join(project, 'fanfare.config.ts'), OTHER_TYPES);
  const page = join(folder, 'with other types.md');
  await writeFile(page, WITH_OTHER_TYPES);
  await walk(page, { cwd: project, env, after: exampleSays });
}

async function walk(page, options) {
  const { faults: found } = await walkPage(page, options);
  faults.push(...found);
  if (found.length === 0) console.log(`${page.replace(`${folder}/`, '')}: done word for word`);
}

/** What the page calls the files of an import, from the sample that the package brings. */
async function importFiles(cwd) {
  for (const name of ['members', 'refs', 'follows', 'actions']) {
    const packed = await readFile(`templates/trace/${name}.ndjson.gz`);
    await writeFile(join(cwd, `${name}.ndjson.gz`), packed);
    await writeFile(join(cwd, `${name}.ndjson`), gunzipSync(packed));
  }
}

/** What the files of a project name of the installed packages is there. */
async function linksLead(project) {
  for (const file of ['README.md', 'fanfare.config.ts', '.env'])
    for (const [path] of (await readFile(join(project, file), 'utf8')).matchAll(/node_modules\/[\w@/.-]+\w/g))
      await readFile(join(project, path)).catch(() =>
        faults.push(`fanfare init: ${file} names ${path}, which is not there`),
      );
}

/** examples/ci: its story, its schema, types made from that, and what TypeScript says to somebody who uses its types. */
async function example({ env, run }) {
  const cwd = await made('example-ci');
  await cp('examples/ci', cwd, { recursive: true });
  let schema = '';
  const after = (command, text) => {
    if (command === 'npx @fanfare/server schema') schema = text;
    return command === 'node run.mjs' && !/after an erasure/.test(text) ? `it prints ${text}` : null;
  };
  await walk('examples/ci/README.md', { cwd, env, after });
  const installed = await readdir(join(cwd, 'node_modules/@fanfare'));
  if (installed.length !== 2) faults.push(`@fanfare/server brings others: ${installed.join(', ')}`);
  const { stdout: help } = await run('npx', ['@fanfare/server', '--help'], { cwd });
  if (!help.includes('npx @fanfare/server serve') || help.includes('npx fanfare'))
    faults.push(`@fanfare/server: --help names another package: ${help}`);
  faults.push(...(await checkExampleTypes(cwd)));
  const documents =
    '{ feed { edges { node { action { descriptor { ... on DeployedDescriptor { stage } } } } } } }';
  const [types] = await generate(
    { schema, documents, silent: true, generates: { 'types.ts': { plugins: ['typescript'] } } },
    false,
  );
  if (/type ApplicationRatingDescriptor/.test(schema) || !/enum DeployedStage/.test(types?.content ?? ''))
    faults.push('examples/ci: its types are not in its schema, or others are');
  else console.log('Types are made from the schema of examples/ci');
}

async function reactExample({ env, run, names }) {
  const cwd = await made('example-react');
  await cp('examples/react', cwd, {
    recursive: true,
    filter: (path) => !/\.fanfare|node_modules/.test(path),
  });
  const after = (command, text) => (command === 'npx vite' ? exampleFault(text) : null);
  await walk('examples/react/README.md', { cwd, env, from: 'Outside this repository', after });
  await run('npm', ['install', '--no-save', ...names], { cwd });
  faults.push(...(await checkNames(cwd, { published: names, run })));
  faults.push(...(await checkReact(cwd, { run })));
}

/** @param text what Vite printed */
async function exampleFault(text) {
  const [, url] = /(http:\/\/[\w.]+:\d+)\//.exec(text);
  const get = async (path, options) => (await fetch(new URL(path, url), options)).text();
  const token = await get('token');
  const answer = await get('graphql', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ feed { edges { node { action { descriptor { summary } } } } } }' }),
  });
  const script = await get('src/app.tsx');
  return /John Doe posted/.test(answer) && /@fanfare_react|@fanfare\/react/.test(script)
    ? null
    : `it serves ${answer} ${script.slice(0, 400)}`;
}

async function clientAlone({ env }) {
  faults.push(...(await checkClient(await made('client-alone'), { env })));
  faults.push(...(await checkElements(await made('elements-alone'), { env })));
  faults.push(...(await checkCaches(await made('caches'), { env })));
  faults.push(...(await checkQuickstart(await made('quickstart'), { env })));
  faults.push(...(await checkReact18(await made('react-18'), { env })));
}

/** Of a checkout that no registry has. */
async function projectOfCheckout({ env, run }) {
  const cwd = await made('made-by-checkout');
  await run(process.execPath, [resolve('bin/fanfare.js'), 'init'], { cwd });
  await walk(join(cwd, 'README.md'), { cwd, env });
}

/** The server by other releases of Node, which npm has as packages. */
async function nodes({ env, run }) {
  const server = join(folder, 'example-react/node_modules/@fanfare/server/bin/fanfare.js');
  for (const release of NODES) {
    const to = await made(`node-${release}`);
    const name = `node-${process.platform}-${process.arch}`;
    const args = ['install', '--ignore-scripts', '--prefix', to, `${name}@${release}`];
    const isThere = await run('npm', args, { cwd: to }).then(
      () => true,
      () => false,
    );
    if (isThere) await serveBy(join(to, 'node_modules', name, 'bin', 'node'), { server, cwd: to, env, run });
    else console.log(`Node ${release} cannot be had here and is not tried`);
  }
}

/** Makes a project, starts the server, publishes and reads the feed until it has come. */
async function serveBy(node, { server, cwd, env, run }) {
  const name = `Node ${(await run(node, ['--version'])).stdout.trim()}`;
  const options = { cwd, env: { ...env, PORT: '0' } };
  await run(node, [server, 'init', 'made'], options);
  const answers = await served(node, [server, 'serve'], options, async (ask) => {
    const published = await ask(ROUND);
    const until = performance.now() + DELIVERED_WITHIN_MS;
    let page;
    do page = await ask(PAGE);
    while (page.data?.feed.edges.length === 0 && performance.now() < until);
    return [published, page];
  });
  const fault = answers.find(({ errors }) => errors !== undefined);
  const isFound = JSON.stringify(answers.at(-1)).includes('"memberId":"demo"');
  if (fault !== undefined || !isFound) faults.push(`${name}: the server answered ${JSON.stringify(answers)}`);
  else console.log(`The server works by ${name}`);
}

/** Scripts and style of the console and of the demo, as a server that compresses sends them. */
async function checkConsoleSize() {
  const assets = resolve('console/dist/assets');
  const page = await readFile('console/dist/index.html', 'utf8');
  let [size, first] = [0, 0];
  for (const name of await readdir(assets)) {
    const bytes = gzipSync(await readFile(join(assets, name))).length;
    size += bytes;
    // What its first scripts import is named in the page, too.
    if (page.includes(name)) first += bytes;
  }
  for (const [what, bytes, largest] of [
    ['The console', size, LARGEST_CONSOLE_BYTES],
    ['Its first screen', first, LARGEST_FIRST_SCREEN_BYTES],
  ]) {
    console.log(`${what}: ${bytes} bytes gzipped, of ${largest}`);
    if (bytes > largest || bytes === 0) faults.push(`${what}: ${bytes} bytes gzipped`);
  }
}
