import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { readOwnFile, writeOwnFile } from './process/own-file.ts';

/** The user that clients of the gateway log in as, and the role with which the gateway logs in to PostgreSQL. */
export const GATEWAY_USER = 'fanfare';

const BYTES = 24;

/** Clients get theirs at every start, so that what somebody learned during a start is of no use at the next. */
export function newPassword(): string {
  return randomBytes(BYTES).toString('base64url');
}

/**
 * The password of PostgreSQL's superuser, made at the first start and kept beside the cluster that knows it. Only this
 * process logs in with it, to set the cluster up. Folders of versions without passwords get theirs here. Only the process
 * that has the folder's lock may call this.
 */
export function superuserPassword(dataDir: string): string {
  const file = join(dataDir, 'postgres.password');
  const kept = readOwnFile(file)?.trim() ?? '';
  // Empty is what a full disk left.
  if (kept !== '') {
    chmodSync(file, 0o600);
    return kept;
  }
  const password = newPassword();
  writeOwnFile(file, `${password}\n`);
  return password;
}
