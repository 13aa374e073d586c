import { execFile } from 'node:child_process';
import {
  access,
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import ignorePatterns from '@balena/dockerignore';
import { Copy, DockerfileParser, type Instruction } from 'dockerfile-ast';
import { PROJECT } from './project-copy.ts';

const run = promisify(execFile);

/** What the last stage of the Dockerfile comes to, in a folder that stands for the root of the image. */
export interface Image extends AsyncDisposable {
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** Of the health check. */
  readonly check: readonly string[];
}

interface Stage {
  readonly root: string;
  readonly env: Record<string, string>;
  readonly args: Record<string, string>;
  readonly buildArgs: Readonly<Record<string, string>>;
  workdir: string;
  user: string;
  entrypoint: readonly string[];
  command: readonly string[];
  check: readonly string[];
}

/**
 * Goes through the Dockerfile without Docker: copies what the context has after .dockerignore, and runs what is to be
 * run, with the root of the stage in the place of `/`. Packages are taken from this project instead of a registry.
 * @param buildArgs as `docker build --build-arg` has them
 */
export async function makeImage(buildArgs: Stage['buildArgs'] = {}): Promise<Image> {
  const base = await mkdtemp(join(tmpdir(), 'fanfare-image-'));
  // The image's user goes in there.
  await chmod(base, 0o755);
  const context = await contextFiles();
  const dockerfile = DockerfileParser.parse(await readFile(join(PROJECT, 'Dockerfile'), 'utf8'));
  const stages = new Map<string, Stage>();
  let stage: Stage | null = null;
  for (const instruction of dockerfile.getInstructions()) {
    if (instruction.getKeyword() === 'FROM') {
      const [, , name = 'last'] = words(instruction);
      stage = newStage(join(base, name), buildArgs);
      await mkdir(stage.root);
      stages.set(name, stage);
    } else if (stage !== null) await follow(instruction, stage, stages, context);
  }
  if (stage === null) throw new Error('The Dockerfile has no stage');
  return { ...stage, [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true }) };
}

function newStage(root: string, buildArgs: Stage['buildArgs']): Stage {
  return {
    root,
    buildArgs,
    env: {},
    args: {},
    workdir: '/',
    user: 'root',
    entrypoint: [],
    command: [],
    check: [],
  };
}

function words(instruction: Instruction): string[] {
  return instruction.getArguments().map((argument) => argument.getValue());
}

/** Paths of the project that are sent to Docker. */
async function contextFiles(): Promise<ReadonlySet<string>> {
  const filter = ignorePatterns.default().add(await readFile(join(PROJECT, '.dockerignore'), 'utf8'));
  const top = (await readdir(PROJECT)).filter((name) => !['node_modules', '.git', 'dist'].includes(name));
  const below = await Promise.all(
    top.map(async (name) => {
      const inside = await readdir(join(PROJECT, name), { recursive: true }).catch(() => []);
      return [name, ...inside.map((file) => join(name, file))];
    }),
  );
  return new Set(filter.filter(below.flat()));
}

async function follow(
  instruction: Instruction,
  stage: Stage,
  stages: ReadonlyMap<string, Stage>,
  context: ReadonlySet<string>,
): Promise<void> {
  const args = words(instruction);
  const [first = ''] = args;
  switch (instruction.getKeyword()) {
    case 'WORKDIR':
      stage.workdir = first;
      await mkdir(join(stage.root, first), { recursive: true });
      return;
    case 'ENV':
      for (const arg of args) stage.env[arg.slice(0, arg.indexOf('='))] = arg.slice(arg.indexOf('=') + 1);
      return;
    case 'USER':
      stage.user = first;
      return;
    case 'COPY':
      if (instruction instanceof Copy) await copy(instruction, stage, stages, context);
      return;
    case 'ARG':
      {
        const [name = ''] = first.split('=');
        stage.args[name] = stage.buildArgs[name] ?? first.slice(name.length + 1);
      }
      return;
    case 'RUN':
      await runIn(stage, instruction.getArgumentsContent() ?? '');
      return;
    case 'ENTRYPOINT':
      stage.entrypoint = json(instruction);
      return;
    case 'CMD':
      stage.command = json(instruction);
      return;
    case 'HEALTHCHECK':
      stage.check = json(instruction);
      return;
    case 'EXPOSE':
      return;
    default:
      throw new Error(`The check of the image does not know ${instruction.getKeyword()}`);
  }
}

/** The command in brackets, after `CMD` in a health check. */
function json(instruction: Instruction): string[] {
  const text = instruction.getArgumentsContent() ?? '';
  return JSON.parse(text.slice(text.indexOf('['))) as string[];
}

async function copy(
  instruction: Copy,
  stage: Stage,
  stages: ReadonlyMap<string, Stage>,
  context: ReadonlySet<string>,
): Promise<void> {
  const from = instruction.getFromFlag()?.getValue();
  const paths = words(instruction);
  const target = paths.pop() ?? '';
  const destination = join(stage.root, target.startsWith('/') ? target : join(stage.workdir, target));
  for (const path of paths) {
    if (from == null && !context.has(path)) throw new Error(`COPY ${path}: .dockerignore leaves it out`);
    const source = from == null ? PROJECT : stages.get(from)?.root;
    if (source === undefined) throw new Error(`COPY --from=${String(from)}: there is no such stage`);
    const isInto = target.endsWith('/');
    await cp(join(source, path), isInto ? join(destination, path) : destination, {
      recursive: true,
      filter: (file) => from != null || context.has(file.slice(PROJECT.length).replace(/^\//, '')),
    });
  }
}

async function runIn(stage: Stage, command: string): Promise<void> {
  const cwd = join(stage.root, stage.workdir);
  if (command.startsWith('npm ci')) {
    await installPackages(cwd, command.split(' ').slice(1));
    if (!command.includes('--ignore-scripts')) await run('npm', ['run', '--silent', 'prepare'], { cwd });
    return;
  }
  const isRoot = process.getuid?.() === 0;
  const here = command
    .replaceAll(/(?<=\s)\/(?=\w)/g, `${stage.root}/`)
    .replaceAll(/-([og]) node/g, isRoot ? `-$1 ${String(IMAGE_UID)}` : '');
  const env = { ...process.env, ...stage.args };
  if (!command.includes('npm install')) {
    await run('sh', ['-c', here], { cwd, env });
    return;
  }
  // The shell says what npm would be asked for, if anything.
  const bin = await mkdtemp(join(tmpdir(), 'fanfare-npm-'));
  try {
    await writeFile(join(bin, 'npm'), '#!/bin/sh\nprintf "%s\\n" "$@" >"$0.asked"\n', { mode: 0o755 });
    await writeFile(join(bin, 'npm.asked'), '');
    await run('sh', ['-c', here], { cwd, env: { ...env, PATH: `${bin}:${env['PATH'] ?? ''}` } });
    const asked = (await readFile(join(bin, 'npm.asked'), 'utf8')).split('\n').filter((word) => word !== '');
    if (asked.length > 0) await installPackages(cwd, asked);
  } finally {
    await rm(bin, { recursive: true });
  }
}

/** Of the user `node` in the images of Node. */
export const IMAGE_UID = 1000;

interface LockedPackage {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/**
 * What `npm ci --omit=dev --workspaces=false` installs: all that the root package needs, found as Node finds it. And what
 * `npm install` adds to that.
 */
function ofTheServer(packages: LockFile['packages'], added: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (path: string): void => {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } =
      packages[path] ?? {};
    const peers = Object.keys(peerDependencies ?? {}).filter(
      (name) => peerDependenciesMeta?.[name]?.optional !== true,
    );
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const place = placeOf(packages, path, name);
      if (place === null || found.has(place)) continue;
      found.add(place);
      visit(place);
    }
  };
  visit('');
  for (const spec of added) {
    const [, name = '', version = ''] = /^(.+)@([^@]+)$/.exec(spec) ?? [];
    const place = placeOf(packages, '', name);
    if (place === null || packages[place]?.version !== version)
      throw new Error(`npm install ${spec}: the lock file has ${packages[place ?? '']?.version ?? 'none'}`);
    found.add(place);
    visit(place);
  }
  return found;
}

function placeOf(packages: LockFile['packages'], from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (place in packages) return place;
    if (folder === '') return null;
  }
}

/** Without development packages these are copied, so that nothing else is found from where they are. */
async function installPackages(cwd: string, [command = '', ...flags]: readonly string[]): Promise<void> {
  if (!flags.includes('--omit=dev')) {
    await symlink(join(PROJECT, 'node_modules'), join(cwd, 'node_modules'));
    return;
  }
  const { packages } = JSON.parse(await readFile(join(cwd, 'package-lock.json'), 'utf8')) as LockFile;
  const added = command === 'install' ? flags.filter((flag) => !flag.startsWith('-')) : [];
  // As npm does: what an earlier command has added stays only if this one asks for it too.
  await rm(join(cwd, 'node_modules'), { recursive: true, force: true });
  for (const path of ofTheServer(packages, added)) {
    const source = join(PROJECT, path);
    // The lock file has optional packages of other platforms too.
    if (!(await isThere(source))) continue;
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await cp(source, join(cwd, path), {
      recursive: true,
      // What lies below has an entry of its own.
      filter: (file) => !file.slice(source.length).includes('/node_modules'),
    });
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
