import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, ownIdentity } from './process/identity.ts';
import type { ProcessIdentity } from './process/identity.ts';
import type { EmbeddedServices } from './services.ts';

/** What runs in a DATA_DIR, with the passwords in the addresses. */
export type RunningServices = Pick<EmbeddedServices, 'mongodbUri' | 'mongodbKind' | 'redisUrl' | 'redisKind'>;

interface RunningRecord extends RunningServices {
  readonly owner: ProcessIdentity;
}

const FILE = 'running-services.json';

/**
 * The databases of the process that has this DATA_DIR, for other processes of the same user; null while there is none
 * or it is still starting. `owner` is that process.
 */
export function findRunningServices(
  dataDir: string,
): (RunningServices & { readonly owner: ProcessIdentity }) | null {
  let record: RunningRecord;
  try {
    record = JSON.parse(readFileSync(join(dataDir, FILE), 'utf8')) as RunningRecord;
  } catch {
    return null; // There is none, and it is never half written.
  }
  return isAlive(record.owner) ? record : null;
}

/** Writes them down, readable by the owner of the folder only, until disposed. */
export function noteRunningServices(dataDir: string, services: RunningServices): Disposable {
  const { mongodbUri, mongodbKind, redisUrl, redisKind } = services;
  const record: RunningRecord = { owner: ownIdentity(), mongodbUri, mongodbKind, redisUrl, redisKind };
  const file = join(dataDir, FILE);
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
  renameSync(draft, file);
  return {
    [Symbol.dispose]: () => {
      rmSync(file, { force: true });
    },
  };
}
