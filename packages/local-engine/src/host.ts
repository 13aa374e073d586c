import { join } from 'node:path';
import { EmbeddedError } from './errors.ts';
import type { OnEmbeddedEvent } from './events.ts';
import { Keeper } from './keeper-client.ts';
import type { Launch } from './launch.ts';
import { clearLeftovers } from './leftovers.ts';
import type { Durability } from './mongo/postgres-settings.ts';
import { hasMembers } from './members.ts';
import { DEFAULT_PATH } from './process/executables.ts';
import { tryLock } from './process/file-lock.ts';
import { makeFolder } from './process/make-folder.ts';
import { servicesCanReach } from './process/service-user.ts';
import { shortPathOf } from './process/short-path.ts';
import { waitUntil } from './process/wait-until.ts';
import { findRunningServices } from './running-services.ts';
import { ensureTree, findTree } from './tree/ensure-tree.ts';
import { DOCUMENTDB_RECIPE } from './tree/recipe.ts';
import { treeSource } from './tree/tree-source.ts';
import type { TreeSource } from './tree/tree-source.ts';
import { ownFolder } from './process/own-file.ts';

/** What every way of starting something local needs. */
export interface HostOptions {
  /** Absolute. The services' data, logs and locks; one process at a time can use it. */
  readonly dataDir: string;
  /** Absolute. What is fetched once for all: the engine, a downloaded mongod. */
  readonly cacheDir: string;
  /** `durable` survives a power cut; `fast` does not sync to disk and keeps nothing in Redis, for tests. */
  readonly durability: Durability;
  /** PATH to search for programs. Default: Debian's for root. */
  readonly path?: string;
  readonly onEvent?: OnEmbeddedEvent;
}

/** A data folder that is ours, with a keeper in it. Disposing stops everything started in it, then lets it go. */
export interface Host extends AsyncDisposable {
  readonly launch: Launch;
  readonly tree: TreeSource;
  /** Where what is fetched lies; see `reachableCache`. */
  readonly cacheDir: string;
}

/** Takes the data folder: fails with DATA_DIR_BUSY while another process has it, and clears what a dead one left. */
export async function openHost(options: HostOptions): Promise<Host> {
  const { dataDir, durability, path = DEFAULT_PATH, onEvent = () => undefined } = options;
  makeFolder(dataDir);
  const attempt = tryLock(join(dataDir, 'embedded.lock'));
  if (!('lock' in attempt)) {
    const who = attempt.holder === null ? 'another process' : `process ${attempt.holder.pid}`;
    throw new EmbeddedError(
      'DATA_DIR_BUSY',
      `${dataDir} is in use by ${who}. Stop that one first, or give this one another DATA_DIR.`,
    );
  }
  const { lock } = attempt;
  try {
    if (await isShared(dataDir)) {
      throw new EmbeddedError(
        'DATA_DIR_BUSY',
        `${dataDir} is in use by processes that joined its databases. Stop those first, or give this one another DATA_DIR.`,
      );
    }
    await clearLeftovers(dataDir, onEvent);
    const keeper = await Keeper.start(dataDir);
    const cacheDir = reachableCache(options.cacheDir);
    const treeOptions = { recipe: DOCUMENTDB_RECIPE, cacheDir, path, onEvent };
    const close = async () => {
      try {
        await keeper[Symbol.asyncDispose]();
      } finally {
        lock[Symbol.dispose]();
      }
    };
    let closing: Promise<void> | null = null;
    return {
      launch: { keeper, dataDir, shortDataDir: shortPathOf(dataDir), durability, path, onEvent },
      cacheDir,
      tree: treeSource(
        () => findTree(treeOptions),
        () => ensureTree(treeOptions),
      ),
      [Symbol.asyncDispose]: () => (closing ??= close()),
    };
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

const ROOTS_CACHE = '/var/cache/fanfare';

/** Root's services run as other users, who cannot run programs that lie in root's home. */
function reachableCache(cacheDir: string): string {
  makeFolder(cacheDir);
  if (servicesCanReach(cacheDir)) return cacheDir;
  makeFolder(ROOTS_CACHE);
  ownFolder(ROOTS_CACHE, 0o755);
  return ROOTS_CACHE;
}

/** How long a keeper may take to notice that its owner is gone, in milliseconds. */
const NOTICE_WITHIN_MS = 5_000;

/**
 * Whether processes that joined use the databases of an owner who is gone. Right after its end the keeper may not have
 * noticed yet; it withdraws the addresses then, unless somebody has joined.
 */
async function isShared(dataDir: string): Promise<boolean> {
  const isDecided = (): boolean => findRunningServices(dataDir) === null || hasMembers(dataDir);
  await waitUntil(isDecided, NOTICE_WITHIN_MS);
  return findRunningServices(dataDir) !== null;
}
