import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedError } from '../errors.ts';
import type { Launch } from '../launch.ts';
import { needExecutable } from '../process/executables.ts';
import { runCommand } from '../process/run-command.ts';
import { POSTGRES_MAJOR } from '../tree/recipe.ts';
import { TEMPLATE } from '../tree/template-cluster.ts';

/** A database cluster on disk. */
export interface Cluster {
  readonly data: string;
  /** The password that the template was made with. */
  readonly templatePassword: string;
}

/** The cluster in `folder`; if there is none, a copy of the tree's template. */
export async function openCluster(launch: Launch, tree: string, folder: string): Promise<Cluster> {
  // It gets its name when it is complete, so that half a copy is never taken for data.
  const copy = `${folder}.new`;
  rmSync(copy, { recursive: true, force: true });
  if (!existsSync(folder)) {
    launch.onEvent({ step: 'prepare', message: `Making an empty database in ${folder}` });
    mkdirSync(launch.dataDir, { recursive: true });
    const run = (name: string, args: readonly string[]) =>
      runCommand({ command: needExecutable(name, launch.path), args });
    await run('cp', ['-a', join(tree, TEMPLATE), copy]);
    if (launch.durability === 'durable') await run('sync', ['-f', copy]);
    renameSync(copy, folder);
  }
  const data = join(folder, 'data');
  const version = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim();
  if (version === POSTGRES_MAJOR)
    return { data, templatePassword: readFileSync(join(folder, 'password'), 'utf8').trim() };
  throw new EmbeddedError(
    'DATA_DIR_UNUSABLE',
    `The data in ${folder} was made by PostgreSQL ${version}, but this version of the server uses ` +
      `${POSTGRES_MAJOR}. Use another DATA_DIR, or export the data with the version that made it.`,
  );
}
