import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedError, reasonOf } from '../errors.ts';
import type { OnEmbeddedEvent } from '../events.ts';
import { findExecutable, needExecutable } from '../process/executables.ts';
import { lockWhenFree } from '../process/file-lock.ts';
import { runCommand } from '../process/run-command.ts';
import { debianMirrors } from './apt-sources.ts';
import { buildTree } from './build-tree.ts';
import { treeName } from './recipe.ts';
import type { TreeRecipe } from './recipe.ts';

export interface TreeOptions {
  readonly recipe: TreeRecipe;
  /** Absolute; made if it is not there. */
  readonly cacheDir: string;
  readonly path: string;
  /** The host's apt configuration. Default `/etc/apt`. */
  readonly aptFolder?: string;
  readonly onEvent: OnEmbeddedEvent;
}

const BUILDING = '.building-';

/** The finished tree of this recipe, if the cache holds it. */
export async function findTree(options: TreeOptions): Promise<string | null> {
  if (toolsMissing(options.path).length > 0) return null;
  const tree = await finishedTree(options);
  return existsSync(tree) ? tree : null;
}

/**
 * The finished tree, built if it is not there. It is built under another name and renamed, so that what carries its
 * name is complete; of several processes one builds and the others wait. Fails with BUILD_FAILED.
 */
export async function ensureTree(options: TreeOptions): Promise<string> {
  const { recipe, cacheDir, path, onEvent } = options;
  const mirrors = debianMirrors(options.aptFolder ?? '/etc/apt');
  const impossible = whyNoTree(path, mirrors.length);
  if (impossible !== null)
    throw new EmbeddedError('BUILD_FAILED', `it cannot be built, because ${impossible}.`);
  const finished = await finishedTree(options);
  if (existsSync(finished)) return finished;
  using _lock = await lockWhenFree(join(cacheDir, 'documentdb.lock'), (holder) => {
    const who = holder === null ? 'Another process' : `Process ${holder.pid}`;
    onEvent({ step: 'wait', message: `${who} is preparing the local database engine; waiting for it` });
  });
  if (existsSync(finished)) return finished;
  // Nobody else builds while we have the lock, so what is half built has been left by someone who died.
  for (const name of readdirSync(cacheDir).filter((entry) => entry.includes(BUILDING))) {
    rmSync(join(cacheDir, name), { recursive: true, force: true, maxRetries: 3 });
  }
  const draft = `${finished}${BUILDING}${process.pid}`;
  try {
    await buildTree(
      { recipe, architecture: await architecture(path), mirrors, path, onEvent },
      draft,
      finished,
    );
  } catch (error) {
    throw new EmbeddedError('BUILD_FAILED', `it could not be built: ${reasonOf(error)}`, { cause: error });
  } finally {
    rmSync(draft, { recursive: true, force: true, maxRetries: 3 });
  }
  return finished;
}

/** Why no tree can be built on this machine, or null when it can be tried. */
function whyNoTree(path: string, mirrors: number): string | null {
  if (process.platform !== 'linux') return `${process.platform} is not Linux`;
  const missing = toolsMissing(path);
  if (missing.length > 0) return `this is no Debian system (no ${missing.join(', no ')})`;
  return mirrors === 0 ? 'apt is not set up with a mirror of Debian' : null;
}

function toolsMissing(path: string): readonly string[] {
  return ['apt-get', 'dpkg-deb', 'dpkg'].filter((tool) => findExecutable(tool, path) === null);
}

async function finishedTree({ recipe, cacheDir, path }: TreeOptions): Promise<string> {
  return join(cacheDir, treeName(recipe, await architecture(path)));
}

async function architecture(path: string): Promise<string> {
  return (await runCommand({ command: needExecutable('dpkg', path), args: ['--print-architecture'] })).trim();
}
