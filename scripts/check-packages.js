/**
 * What is published, as a user gets it: each package is packed, linted, its types are resolved as Node and
 * bundlers do, and its tarballs are installed into an empty folder, where the server must start and do its work, by
 * this Node and by others, the example of a host with types of its own must run, and so must what `fanfare init` makes. What is
 * written against the types of the example is checked by those of the tarball.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { generate } from '@graphql-codegen/cli';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { checkClient } from './check-client.js';
import { checkExampleTypes } from './check-example-types.js';
import { checkInit } from './check-init.js';
import { checkReact } from './check-react.js';
import { checkReact18 } from './check-react-18.js';
import { served } from './served.js';

const PACKAGES = ['.', 'packages/client', 'packages/react', 'packages/local-engine'];
/** All are ESM only, which these three report. */
const ESM_ONLY = new Set(['CJSResolvesToESM', 'NoResolution', 'UntypedResolution']);
const LARGEST_CONSOLE_BYTES = 300_000;
/** What a browser has to have before it shows the feed. */
const LARGEST_FIRST_SCREEN_BYTES = 120_000;
const DELIVERED_WITHIN_MS = 240_000;
/** Major versions of Node beside the one that runs this. */
const OTHER_NODES = ['20', '22', '24'].filter((major) => !process.version.startsWith(`v${major}.`));
/** What is published and how it is read, over the server's own database. */
const ROUND = `mutation { publishAction(input: { mentions: ["demo"], descriptor: {
  custom: { verb: "ran", objectType: "node", objectId: "node" } } }) { action { id } } }`;
const PAGE = '{ feed(first: 1) { edges { node { action { actor { memberId } } } } } }';

/** As in a shell of its own: what npm passes on to its scripts are the settings of this project. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
const run = (command, args, options) =>
  promisify(execFile)(command, args, { env, maxBuffer: 1e8, ...options });
const folder = await mkdtemp(join(tmpdir(), 'fanfare-packages-'));
const faults = [];
try {
  const tarballs = [];
  for (const path of PACKAGES) tarballs.push(await pack(path));
  for (const { name, file, path } of tarballs) await lint(name, file, path);
  faults.push(...(await checkClient(folder, { tarballs, env })));
  faults.push(...(await checkReact18(folder, { tarballs, env })));
  await install(tarballs);
} finally {
  await rm(folder, { recursive: true, force: true });
}
await checkConsoleSize();
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);

/** Scripts and style of the console and of the demo, as a server that compresses sends them. */
async function checkConsoleSize() {
  const assets = 'console/dist/assets';
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

async function pack(path) {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: path,
  });
  const [{ name, filename, files }] = JSON.parse(stdout);
  const strange = files.filter(({ path: file }) =>
    /^src\/|(?:^|\/)(?:test|bench)\/|\.tsbuildinfo$|\.env/.test(file),
  );
  if (strange.length > 0)
    faults.push(`${name}: should not be in the package: ${strange.map((one) => one.path).join(', ')}`);
  console.log(`${name}: ${files.length} files`);
  return { name, path, file: join(folder, filename) };
}

async function lint(name, file, path) {
  const tarball = await readFile(file);
  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(tarball).buffer } });
  for (const message of messages)
    if (message.type !== 'suggestion') faults.push(`${name}: ${formatMessage(message, pkg) ?? message.code}`);
  const { problems = [] } = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)), {
    excludeEntrypoints: [/\.css$/],
  });
  const wrong = problems.filter(
    ({ kind, resolutionKind }) =>
      !(ESM_ONLY.has(kind) && (resolutionKind === 'node10' || resolutionKind === 'node16-cjs')),
  );
  for (const problem of wrong) faults.push(`${name}: types: ${JSON.stringify(problem)}`);
}

/** Installs the tarballs as somebody would, and starts the server there. */
async function install(tarballs) {
  const empty = join(folder, 'empty');
  await run('mkdir', [empty]);
  await writeFile(join(empty, 'package.json'), '{ "private": true }');
  const files = tarballs.map(({ file }) => file);
  const add = (names) =>
    run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...names], { cwd: empty });
  // Without another package of this project: it needs none of them.
  const [server] = files;
  await add([server]);
  const beside = await readdir(join(empty, 'node_modules/@fanfare'));
  if (beside.length > 1) faults.push(`@fanfare/server brings others: ${beside.join(', ')}`);
  const npx = (...args) => run('npx', ['--no-install', '@fanfare/server', ...args], { cwd: empty });
  const { stdout: help } = await npx('serve', '--help');
  if (!help.includes('fanfare serve')) faults.push(`@fanfare/server alone: serve --help says ${help}`);
  await add(files);
  const { stdout } = await npx('--version');
  const { stdout: examples } = await npx('--help');
  if (!examples.includes('npx @fanfare/server serve') || examples.includes('npx fanfare'))
    faults.push(`@fanfare/server: --help names another package: ${examples}`);
  console.log(`fanfare ${stdout.trim()} runs from its tarball, alone too`);
  await check('this Node', process.execPath, empty);
  for (const major of OTHER_NODES) {
    const node = await fetchNode(major);
    if (node === null) console.log(`Node ${major} cannot be had here and is not tried`);
    else await check(`Node ${major}`, node, empty);
  }
  await runExample(empty);
  const cli = join(empty, 'node_modules/@fanfare/server/bin/fanfare.js');
  faults.push(...(await checkInit(folder, { cli, tarballs, env })));
  const { devDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  const { react, vite } = devDependencies;
  faults.push(...(await checkReact(empty, { env, react, vite })));
}

/** The example with types of its own, beside nothing but what was installed: its story, its schema, types made from that. */
async function runExample(empty) {
  for (const name of ['fanfare.config.mjs', 'run.mjs'])
    await copyFile(join('examples/ci', name), join(empty, name));
  const options = { cwd: empty, env: { ...env, DATA_DIR: join(empty, 'example') } };
  // A second time, too: it has nothing to do with what the first one left.
  for (const time of ['', ' again']) {
    const told = await run(process.execPath, ['run.mjs'], options).catch((error) => error);
    if (!/after an erasure/.test(told.stdout))
      faults.push(`examples/ci${time}: ${told.stdout}${told.stderr}`);
    else console.log(`examples/ci runs${time} from the tarball`);
  }
  faults.push(...(await checkExampleTypes(empty)));
  const { stdout: schema } = await run('npx', ['--no-install', 'fanfare', 'schema'], options);
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

/** The program of another release, which npm has as packages; null where it has none for this machine. */
async function fetchNode(major) {
  const name = `node-${process.platform}-${process.arch}`;
  const to = join(folder, `node-${major}`);
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--prefix', to];
  try {
    await run('npm', ['install', ...options, `${name}@${major}`], { cwd: folder });
    return join(to, 'node_modules', name, 'bin', 'node');
  } catch {
    return null;
  }
}

async function check(name, node, cwd) {
  const { stdout } = await run(node, ['--version']);
  const answers = await serve(node, cwd);
  const fault = answers.find(({ errors }) => errors !== undefined);
  const isFound = JSON.stringify(answers.at(-1)).includes('"memberId":"demo"');
  if (fault !== undefined || !isFound) faults.push(`${name}: the server answered ${JSON.stringify(answers)}`);
  else console.log(`The server works from its tarball by Node ${stdout.trim()}`);
}

/** Starts the server, publishes and reads the feed until it has come. */
function serve(node, cwd) {
  const args = [join(cwd, 'node_modules/@fanfare/server/bin/fanfare.js'), 'serve'];
  const options = { cwd, env: { ...env, PORT: '0', DATA_DIR: join(cwd, 'data') } };
  return served(node, args, options, async (ask) => {
    const answers = [await ask(ROUND)];
    const until = performance.now() + DELIVERED_WITHIN_MS;
    do answers.splice(1, 1, await ask(PAGE));
    while (answers[1].data?.feed.edges.length === 0 && performance.now() < until);
    return answers;
  });
}
