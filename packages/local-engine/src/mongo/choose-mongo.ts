import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedError, reasonOf } from '../errors.ts';
import type { OnEmbeddedEvent } from '../events.ts';
import { findExecutable } from '../process/executables.ts';
import { asServiceUser } from '../process/guarded-command.ts';
import { runCommand } from '../process/run-command.ts';
import { SERVICE_UIDS } from '../process/service-user.ts';
import type { TreeSource } from '../tree/tree-source.ts';
import { DOCUMENTDB_FOLDER } from './documentdb.ts';
import { downloadMongod, findDownloadedMongod } from './download-mongod.ts';
import { MONGOD_FOLDER } from './mongod.ts';

export type MongoChoice =
  | { readonly kind: 'mongod'; readonly binary: string; readonly reason: string }
  | { readonly kind: 'documentdb'; readonly tree: string; readonly reason: string };

export interface ChooseMongo {
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly path: string;
  readonly tree: TreeSource;
  readonly onEvent: OnEmbeddedEvent;
}

/**
 * Which local engine to use: a mongod that is here and runs, else DocumentDB if it has been built, else a mongod that
 * can be downloaded, else DocumentDB built now. Data that is already in DATA_DIR goes before all that: its engine or
 * an error, for another engine would not see it. Fails with NO_MONGODB when nothing is possible.
 */
export async function chooseMongo(options: ChooseMongo): Promise<MongoChoice> {
  const existing = existingData(options.dataDir);
  const tried: string[] = [];
  if (existing !== 'documentdb') {
    const mongod = await mongodHere(options, tried);
    if (mongod !== null) return mongod;
    const built = existing === null ? await options.tree.find() : null;
    if (built !== null) {
      const reason = `${tried.join(', ')}, but DocumentDB in the cache`;
      return { kind: 'documentdb', tree: built, reason };
    }
    const downloaded = await mongodFromAfar(options, tried);
    if (downloaded !== null) return downloaded;
  }
  if (existing !== 'mongod') {
    const reason = existing === null ? tried.join(', ') : 'it made the data in DATA_DIR';
    if ((await options.tree.find()) === null) {
      options.onEvent({
        step: 'choice',
        message: `MongoDB: local DocumentDB, which is fetched now; ${reason}`,
      });
    }
    try {
      return { kind: 'documentdb', tree: await options.tree.get(), reason };
    } catch (error) {
      tried.push(`DocumentDB, the engine for Debian: ${reasonOf(error)}`);
    }
  }
  throw noMongo(existing, options.dataDir, tried);
}

async function mongodHere({ path, cacheDir }: ChooseMongo, tried: string[]): Promise<MongoChoice | null> {
  const onPath = findExecutable('mongod', path);
  if (onPath === null) tried.push('no mongod on PATH');
  else if (await runs(onPath, path, tried))
    return { kind: 'mongod', binary: onPath, reason: 'found on PATH' };
  const earlier = await findDownloadedMongod({ cacheDir });
  if (earlier === null || !(await runs(earlier, path, tried))) return null;
  return { kind: 'mongod', binary: earlier, reason: 'downloaded earlier' };
}

async function mongodFromAfar(options: ChooseMongo, tried: string[]): Promise<MongoChoice | null> {
  const outcome = await downloadMongod(options);
  if ('reason' in outcome) tried.push(outcome.reason);
  else if (await runs(outcome.binary, options.path, tried)) {
    return { kind: 'mongod', binary: outcome.binary, reason: 'downloaded' };
  }
  return null;
}

/** It may be made for another processor, want libraries that a small system does not have, or lie where its user cannot go. */
async function runs(binary: string, path: string, tried: string[]): Promise<boolean> {
  try {
    const command = asServiceUser({ command: binary, args: ['--version'] }, SERVICE_UIDS.mongod, path);
    await runCommand(command);
    return true;
  } catch (error) {
    tried.push(`${binary} does not run (${reasonOf(error)})`);
    return false;
  }
}

/** Which engine made the data in the folder. */
function existingData(dataDir: string): MongoChoice['kind'] | null {
  if (existsSync(join(dataDir, DOCUMENTDB_FOLDER))) return 'documentdb';
  return existsSync(join(dataDir, MONGOD_FOLDER, 'WiredTiger')) ? 'mongod' : null;
}

function noMongo(
  existing: MongoChoice['kind'] | null,
  dataDir: string,
  tried: readonly string[],
): EmbeddedError {
  const data =
    existing === null
      ? ''
      : `The data in ${dataDir} was made by ${existing}, so nothing else can serve it there. `;
  return new EmbeddedError(
    'NO_MONGODB',
    `No MongoDB can be started here: ${tried.join('; ')}. ${data}There are three ways out:\n` +
      '  1. Set MONGODB_URI to the address of a MongoDB.\n' +
      '  2. Run `docker compose up`, which brings MongoDB and Redis along.\n' +
      '  3. Put a `mongod` on PATH, or run on a Debian system whose package mirror can be reached, where a compatible\n' +
      '     engine is set up on its own.',
  );
}
