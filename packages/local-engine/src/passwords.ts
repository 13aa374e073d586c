import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { readOwnFile, writeOwnFile } from './process/own-file.ts';

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
  const kept = readOwnFile(file)?.trim() ?? '';
  // Empty is what a full disk left.
  if (kept !== '') {
    chmodSync(file, 0o600);
    return kept;
  }
  const password = randomBytes(BYTES).toString('base64url');
  writeOwnFile(file, `${password}\n`);
  return password;
}
