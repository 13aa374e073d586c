import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The user that clients of the gateway log in as. */
export const GATEWAY_USER = 'fanfare';

type PasswordOwner = 'gateway' | 'postgres' | 'redis';

const BYTES = 24;

/** Where the password of a local service is kept. Readable by the owner of the folder only. */
function passwordFile(dataDir: string, owner: PasswordOwner): string {
  return join(dataDir, `${owner}.password`);
}

/**
 * The password of a local service, made at the first start and kept. Folders of versions without passwords get theirs
 * here. Only the process that has the folder's lock may call this.
 */
export function keptPassword(dataDir: string, owner: PasswordOwner): string {
  const file = passwordFile(dataDir, owner);
  const kept = readOrNull(file);
  if (kept !== null) {
    chmodSync(file, 0o600);
    return kept;
  }
  const password = randomBytes(BYTES).toString('base64url');
  const draft = `${file}.new`;
  writeFileSync(draft, `${password}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return password;
}

/** Null also for a file that a full disk left empty. */
function readOrNull(file: string): string | null {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' ? null : text;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
