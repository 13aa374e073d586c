import { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { reasonOf } from '../errors.ts';
import type { OnEmbeddedEvent } from '../events.ts';
import { needExecutable } from '../process/executables.ts';
import { runCommand } from '../process/run-command.ts';
import { openApt } from './apt.ts';
import type { Apt } from './apt.ts';
import type { AptSource } from './apt-sources.ts';
import { checkPackages } from './check-packages.ts';
import { installPrograms } from './programs.ts';
import type { TreeRecipe } from './recipe.ts';
import { makeTemplateCluster } from './template-cluster.ts';
import { unpackPackages } from './unpack.ts';
import { ownFolder } from '../process/own-file.ts';

export interface TreeBuild {
  readonly recipe: TreeRecipe;
  readonly architecture: string;
  /** Tried in this order. */
  readonly mirrors: readonly AptSource[];
  readonly path: string;
  readonly onEvent: OnEmbeddedEvent;
}

/** Builds the tree in `draft`, a folder that is there for this alone, and renames it when it is complete. */
export async function buildTree(build: TreeBuild, draft: string, finished: string): Promise<void> {
  const failures: unknown[] = [];
  for (const mirror of build.mirrors) {
    try {
      const tree = await buildFrom(mirror, build, draft);
      // The name must not reach the disk before the files do, or a power cut would leave a tree of empty files.
      await runCommand({ command: needExecutable('sync', build.path), args: ['-f', tree] });
      renameSync(tree, finished);
      return;
    } catch (error) {
      failures.push(error);
    }
  }
  // The mirrors are in order of likelihood; why the last resort failed too says less.
  throw failures[0];
}

/** Without the assumed packages; should Debian have changed so much that this fails, with them. */
async function buildFrom(mirror: AptSource, build: TreeBuild, draft: string): Promise<string> {
  const { recipe, architecture, path, onEvent } = build;
  onEvent({
    step: 'download',
    message: `Fetching the local database engine from ${mirror.uri}`,
    fraction: 0,
  });
  const folder = join(draft, 'apt');
  rmSync(folder, { recursive: true, force: true });
  const apt = await openApt({ recipe, source: mirror, architecture, folder, path, onEvent });
  const tree = join(draft, 'tree');
  try {
    await fillTree(apt, { isSlim: true, source: mirror.uri }, build, tree);
  } catch (error) {
    if (recipe.assumed.length === 0) throw error;
    onEvent({
      step: 'prepare',
      message: `Trying again with more packages, because this failed: ${reasonOf(error)}`,
    });
    await fillTree(apt, { isSlim: false, source: mirror.uri }, build, tree);
  }
  return tree;
}

async function fillTree(
  apt: Apt,
  way: { readonly isSlim: boolean; readonly source: string },
  { recipe, path, onEvent }: TreeBuild,
  tree: string,
): Promise<void> {
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true });
  // Also with a strict umask: the services run as other users.
  ownFolder(tree, 0o755);
  const archives = await apt.download(way.isSlim);
  checkPackages(archives, recipe.pins, onEvent);
  await unpackPackages(archives, tree, path, onEvent);
  for (const name of recipe.removed) rmSync(join(tree, name), { recursive: true, force: true });
  for (const [name, target] of recipe.links) {
    const link = join(tree, name);
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(target, link);
  }
  installPrograms(tree, recipe.programs);
  if (recipe.cluster) {
    onEvent({ step: 'prepare', message: 'Trying the engine with an empty database' });
    await makeTemplateCluster(tree, path);
  }
  const contents = { ...way, recipe, packages: archives.map((archive) => basename(archive)) };
  writeFileSync(join(tree, 'contents.json'), `${JSON.stringify(contents, null, 2)}\n`);
}
